"""What the threads of a block do together: shared arrays, barriers, shuffles, atomics."""

from __future__ import annotations

from dataclasses import dataclass

from tests.fuzz.expressions import Expressions
from tests.fuzz.statements import Statements
from tests.fuzz.values import INPUT_OF, ORDER, Variable

Dim3 = tuple[int, int, int]
SHARED = ("int", "int", "float", "float", "double", "unsigned", "long", "char", "short",
          "float4", "int2", "double2")  # fmt: skip
COMMON = 768  # the first cell of oi that is no thread's own
LEFT = 512  # the first cell of ol that is no thread's own
EXCHANGES = 4  # of the threads of a grid, each in cells of its own


@dataclass(slots=True)
class Shared:
    """A shared array; place is a thread's own cell, touched tells that it may still be read."""

    variable: Variable
    place: str
    touched: bool = False


class Together:
    """Writes stretches of statements with barriers, reached by all threads of a block."""

    def __init__(
        self, expressions: Expressions, writer: Statements, grid: Dim3, block: Dim3
    ) -> None:
        self.expressions = expressions
        self.writer = writer
        self.block = block
        self.threads = block[0] * block[1] * block[2]
        self.all_threads = grid[0] * grid[1] * grid[2] * self.threads
        self.shared: list[Shared] = []
        self.rotates = False
        self.counted = 0  # atomics on global cells
        self.exchanged = 0  # exchanges of the grid's threads
        self.dynamic = ""  # the extern shared array's declaration: type, name and dimensions

    def rotation(self) -> list[str]:
        """A __device__ function with a barrier."""
        self.rotates = True
        return [
            "__device__ void rotate(long& v, const int t) {",
            f"    __shared__ long kept[{self.threads}];",
            "    kept[t] = v;",
            "    __syncthreads();",
            f"    v = kept[(t + 1) % {self.threads}];",
            "    __syncthreads();",
            "}",
        ]

    def any(self, nesting: int) -> None:
        """Something with a barrier."""
        e, out, draw = self.expressions, self.writer, self.expressions.draw
        match draw.randrange(23):
            case 0 if nesting < 2:
                counter, bound = out.name(), draw.randint(2, 3)
                limit = f"(int)blockIdx.x + {bound - 1}" if draw.random() < 0.3 else str(bound)
                with out.block(f"for (int {counter} = 0; {counter} < {limit}; ++{counter}) {{"):
                    bound += 1 if "blockIdx" in limit else 0
                    e.scope.append(Variable(counter, "int", constant=True, bound=bound))
                    self.inner(nesting)
            case 1 if nesting < 2:
                test = draw.choice(("n > 3", "blockIdx.x == 0", "gridDim.x - blockIdx.x & 1"))
                with out.block(f"if ({test}) {{"):
                    self.inner(nesting)
            case 2 if nesting < 2:
                with out.block("switch (blockIdx.x) {"):
                    for label in ("case 1:", "default:"):
                        out.put(label)
                        with out.block("{"):
                            self.inner(nesting)
                        if draw.random() < 0.5:
                            out.put("break;")
            case 3 | 4 if self.threads % 32 == 0:
                self.shuffle()
            case 5 if nesting == 0:
                self.atomic()
            case 6:
                self.own_atomic()
            case 11 | 12:
                self.block_vote(nesting)
            case 13 if self.threads % 32 == 0:
                self.branches()
            case 8 | 9 if self.threads % 32 == 0:
                self.tile()
            case 10 if e.records:
                self.struct_exchange()
            case 17 | 18:
                self.library_scan()
            case 19 | 20 if nesting == 0 and self.exchanged < EXCHANGES:
                self.across_blocks()
            case 21 if self.threads % 32 == 0:
                self.load_matrices()
            case 22:
                self.assembled_copy()
            case 7 if self.rotates:
                name = out.name()
                e.begin()
                out.put(f"long {name} = {e.of('long', e.depth)};")
                out.put(f"rotate({name}, t);")
                e.scope.append(Variable(name, "long"))
            case _:
                self.exchange(nesting)

    def inner(self, nesting: int) -> None:
        """Statements around something with a barrier, in a block that may run again."""
        self.writer.several(0, 2)
        known = [shared.touched for shared in self.shared]
        for shared in self.shared:
            shared.touched = True
        self.any(nesting + 1)
        for shared, touched in zip(self.shared, known, strict=False):
            shared.touched = shared.touched or touched
        self.writer.several(0, 1)

    def exchange(self, nesting: int) -> None:
        """Every thread writes its own cell of a shared array; after a barrier all read it."""
        e, out, draw = self.expressions, self.writer, self.expressions.draw
        if self.shared and (nesting > 0 or draw.random() < 0.5):
            shared = draw.choice(self.shared)
        elif nesting == 0:
            shared = self.new_shared()
        else:
            return
        variable = shared.variable
        if shared.touched:
            out.put("__syncthreads();")
        e.begin(variable.storage)
        e.reserved.add(variable.storage)
        if draw.random() < 0.15 and variable.ctype in INPUT_OF:
            source = INPUT_OF[variable.ctype]
            place = f"&{variable.name}{shared.place}, &{source}[{e.index(256, 1)}]"
            out.put(f"__pipeline_memcpy_async({place}, sizeof({variable.ctype}));")
            out.put("__pipeline_commit();")
            out.put("__pipeline_wait_prior(0);")
        else:
            value = e.of(variable.ctype, e.depth)
            out.put(f"{variable.name}{shared.place} = {value};")
            if draw.random() < 0.25 and variable.ctype in ORDER:
                e.begin(variable.storage)
                e.reserved.add(variable.storage)
                own = f"{variable.name}{shared.place}"
                out.put(f"{e.compound(own, variable.ctype, e.depth)};")
        out.put("__syncthreads();")
        shared.touched = True
        if variable not in e.scope:
            e.scope.append(variable)
            if draw.random() < 0.3 and len(variable.shape) == 1:
                self.point_at(variable)

    def point_at(self, variable: Variable) -> None:
        """A pointer to cells of a shared array, or a reference to one of them."""
        e, out, draw = self.expressions, self.writer, self.expressions.draw
        name, ctype, half = out.name(), variable.ctype, variable.shape[0] // 2
        e.begin()
        place = f"{variable.name}[{e.index(half, 1)}]"
        if draw.random() < 0.3 and ctype in ORDER:
            out.put(f"const {ctype}& {name} = {place};")
            found = Variable(name, ctype, constant=True, storage=variable.storage)
        else:
            out.put(f"const {ctype}* {name} = &{place};")
            found = Variable(name, ctype, "pointer", (half,), True, storage=variable.storage)
        e.scope.append(found)

    def new_shared(self) -> Shared:
        out, draw = self.writer, self.expressions.draw
        ctype, name = draw.choice(SHARED), out.name()
        forms = [((self.threads,), "[t]")] * 2
        for columns in (4, 2):
            rows = self.threads // columns
            forms.append(((rows, columns), f"[t / {columns}][t % {columns}]"))
        forms.append(((self.threads // 4, 2, 2), "[t / 4][t / 2 % 2][t % 2]"))
        x, y, z = self.block
        if z > 1:
            forms.append((self.block[::-1], "[threadIdx.z][threadIdx.y][threadIdx.x]"))
        elif y > 1:
            forms.append(((y, x), "[threadIdx.y][threadIdx.x]"))
        shape, place = draw.choice(forms)
        sizes = [str(size) for size in shape]
        if len(shape) > 1 and draw.random() < 0.4:
            sizes[-1] += " + 1"
        if not self.dynamic and draw.random() < 0.25:
            name = "dynamic"
            self.dynamic = f"{ctype} {name}{''.join(f'[{size}]' for size in sizes)}"
            inner = "".join(f"[{size}]" for size in sizes[1:])
            out.put(f"extern __shared__ {ctype} {name}[]{inner};")
        else:
            out.put(f"__shared__ {ctype} {name}{''.join(f'[{size}]' for size in sizes)};")
        shared = Shared(Variable(name, ctype, "shared", shape, True), place)
        self.shared.append(shared)
        return shared

    def shuffle(self) -> None:
        """A warp's lanes take one another's values."""
        e, out, draw = self.expressions, self.writer, self.expressions.draw
        ctype, name = draw.choice(("int", "unsigned", "float", "double", "long")), out.name()
        kind = draw.choice(("", "_up", "_down", "_xor", "any", "all", "ballot"))
        e.begin()
        if kind in ("any", "all", "ballot"):
            out.put(f"int {name} = __{kind}_sync(0xffffffff, {e.predicate(e.depth)});")
            e.scope.append(Variable(name, "int"))
            return
        by = f"({e.whole(2).text}) & 31" if kind == "" else str(draw.choice((1, 2, 5, 16)))
        width = "" if draw.random() < 0.7 or kind == "_xor" else f", {draw.choice((8, 16, 32))}"
        value = e.exactly(ctype, e.depth)
        out.put(f"{ctype} {name} = __shfl{kind}_sync(0xffffffff, {value}, {by}{width});")
        e.scope.append(Variable(name, ctype))

    def branches(self) -> None:
        """Lanes take the values of lanes in the other branch of an if."""
        e, out, draw = self.expressions, self.writer, self.expressions.draw
        ctype, name = draw.choice(("int", "unsigned", "float", "double", "long")), out.name()
        kind = draw.choice(("", "_up", "_down", "_xor"))
        out.put(f"{ctype} {name} = 0;")
        e.begin()
        test = e.condition(2)
        for head in (f"if ({test}) {{", "else {"):
            with out.block(head):
                e.begin()
                by = f"({e.whole(2).text}) & 31" if kind == "" else str(draw.choice((1, 2, 16)))
                value = e.exactly(ctype, e.depth)
                out.put(f"{name} = __shfl{kind}_sync(0xffffffff, {value}, {by});")
        e.scope.append(Variable(name, ctype))

    def block_vote(self, nesting: int) -> None:
        """The threads of a block count for how many of them something holds."""
        e, out, draw = self.expressions, self.writer, self.expressions.draw
        kind = draw.choice(("count", "and", "or"))
        e.begin()
        text = f"__syncthreads_{kind}({e.predicate(e.depth)})"
        if kind != "count":
            text += " != 0"  # CUDA leaves open which number stands for true
        if nesting < 2 and draw.random() < 0.3:
            with out.block(f"if ({text} {'> 3' if kind == 'count' else ''}) {{"):
                self.inner(nesting)
            return
        name = out.name()
        out.put(f"int {name} = {text};")
        e.scope.append(Variable(name, "int"))

    def library_scan(self) -> None:
        """CUB adds up what the threads have: up to each of them, or all for the first."""
        e, out, draw = self.expressions, self.writer, self.expressions.draw
        ctype = draw.choice(("int", "unsigned", "long", "unsigned long long"))
        storage, name = out.name(), out.name()
        x, y, z = self.block
        kind, default = "BlockScan", "BLOCK_SCAN_RAKING"
        if self.threads >= 32 and draw.random() < 0.4:
            kind, default = "BlockReduce", "BLOCK_REDUCE_WARP_REDUCTIONS"
        what = f"cub::{kind}<{ctype}, {x}, cub::{default}, {y}, {z}>"
        out.put(f"__shared__ {what}::TempStorage {storage};")
        e.begin()
        value = e.exactly(ctype, e.depth)
        if kind == "BlockReduce":
            out.put(f"{ctype} {name} = {what}({storage}).Sum({value});")
            out.put(f"if (t > 0) {name} = 0;")
        else:
            out.put(f"{ctype} {name};")
            form = draw.choice(("Inclusive", "Exclusive"))
            out.put(f"{what}({storage}).{form}Sum({value}, {name});")
        out.put("__syncthreads();")  # the storage may be used again
        e.scope.append(Variable(name, ctype))

    def tile(self) -> None:
        """A tile of a warp, its lanes, and what they take from one another."""
        e, out, draw = self.expressions, self.writer, self.expressions.draw
        size, group, name = draw.choice((2, 4, 8, 16, 32)), out.name(), out.name()
        space = "cooperative_groups::"
        out.put(f"auto {group} = {space}tiled_partition<{size}>({space}this_thread_block());")
        ctype = draw.choice(("int", "unsigned", "float", "double", "long"))
        e.begin()
        match draw.randrange(6):
            case 0:
                kind = draw.choice(("any", "all", "ballot"))
                text, ctype = f"{group}.{kind}({e.predicate(e.depth)})", "int"
            case 1:
                kind = draw.choice(("thread_rank", "meta_group_rank", "size", "meta_group_size"))
                text, ctype = f"{group}.{kind}()", "int"
            case 2:
                operation = draw.choice(("plus", "less", "greater", "bit_and", "bit_or", "bit_xor"))
                ctype = draw.choice(("int", "unsigned"))
                value = e.exactly(ctype, e.depth)
                text = f"{space}reduce({group}, {value}, {space}{operation}<{ctype}>())"
            case 3:
                kind, ctype = draw.choice(("inclusive", "exclusive")), draw.choice(("int", "long"))
                text = f"{space}{kind}_scan({group}, {e.exactly(ctype, e.depth)})"
            case 4:
                text = f"{group}.shfl({e.exactly(ctype, e.depth)}, {e.index(size, 2)})"
            case _:
                by = draw.randrange(size)
                kind = draw.choice(("shfl_up", "shfl_down", "shfl_xor"))
                text = f"{group}.{kind}({e.exactly(ctype, e.depth)}, {by})"
        out.put(f"{ctype} {name} = {text};")
        if draw.random() < 0.3:
            out.put(f"{group}.sync();")
        e.scope.append(Variable(name, ctype))

    def across_blocks(self) -> None:
        """Every thread leaves a number, and after a barrier of the grid takes another's."""
        e, out, draw = self.expressions, self.writer, self.expressions.draw
        group, name = out.name(), out.name()
        out.put(f"auto {group} = cooperative_groups::this_grid();")
        out.put(f"long {name} = 0;")
        first = LEFT + 128 * self.exchanged
        self.exchanged += 1
        rank = draw.choice(("g", f"{group}.thread_rank()"))
        head = draw.choice(("{", "if (n > 3) {", "for (int i = 0; i < 2; ++i) {"))
        with out.block(head):
            e.begin()
            out.put(f"ol[{first} + {rank}] = {e.of('long', e.depth)};")
            out.put(f"{group}.sync();")
            e.reserve()
            out.put(f"{name} += ol[{first} + ({e.index(self.all_threads, 1)})];")
            out.put(f"{group}.sync();")
        numbers = ("num_blocks", "num_threads", "block_rank", "thread_rank")
        out.put(f"{name} += {group}.{draw.choice(numbers)}();")
        e.scope.append(Variable(name, "long"))

    def load_matrices(self) -> None:
        """Warps load matrices of 8 x 8 halves from rows that other threads have written."""
        e, out, draw = self.expressions, self.writer, self.expressions.draw
        rows, count, turned = out.name(), draw.choice((1, 2, 4)), draw.choice(("", ".trans"))
        out.put(f"__shared__ uint4 {rows}[{self.threads}];")
        e.begin()
        out.put(f"{rows}[t] = {e.vector('uint4', 2)};")
        out.put("__syncthreads();")
        names = [out.name() for _ in range(count)]
        out.put(f"unsigned {', '.join(names)};")
        e.reserve()
        number = f"&{rows}[{e.index(self.threads, 1)}]"
        address = f"(unsigned)__cvta_generic_to_shared({number})"
        targets = ", ".join(f"%{place}" for place in range(count))
        name = f"ldmatrix.sync.aligned.m8n8.x{count}{turned}.shared.b16"
        outputs = ", ".join(f'"=r"({each})' for each in names)
        out.put(f'asm volatile("{name} {{{targets}}}, [%{count}];" : {outputs} : "r"({address}));')
        out.put("__syncthreads();")
        e.scope += [Variable(each, "unsigned") for each in names]

    def assembled_copy(self) -> None:
        """Every thread copies cells of an input to shared memory, all or some of their bytes."""
        e, out, draw = self.expressions, self.writer, self.expressions.draw
        cells, name, size = out.name(), out.name(), draw.choice((4, 8, 16))
        many = size // 4
        out.put(f"__shared__ int {cells}[{self.threads * many}];")
        e.reserve()
        source = f"&pi[{many} * ({e.index(256 // many, 1)})]"
        operands = [
            f'"r"((unsigned)__cvta_generic_to_shared(&{cells}[{many} * t]))', f'"l"({source})'
        ]  # fmt: skip
        form = draw.choice(("ca", "cg")) if size == 16 else "ca"
        text = f"cp.async.{form}.shared.global [%0], [%1], {size}"
        if draw.random() < 0.4:
            text += ", %2"
            operands.append(f'"r"(({e.condition(1)}) ? {size}u : 0u)')
        out.put(f'asm volatile("{text};" :: {", ".join(operands)} : "memory");')
        waits = ("cp.async.commit_group; cp.async.wait_group 0;", "cp.async.wait_all;")
        out.put(f'asm volatile("{draw.choice(waits)}");')
        out.put(draw.choice(("__syncthreads();", 'asm volatile("bar.sync 0;");')))
        e.begin()
        out.put(f"int {name} = {cells}[{e.index(self.threads * many, 1)}];")
        out.put("__syncthreads();")
        e.scope.append(Variable(name, "int"))

    def struct_exchange(self) -> None:
        """Every thread leaves a struct in shared memory and takes another's."""
        e, out, draw = self.expressions, self.writer, self.expressions.draw
        record, array, name = draw.choice(e.records), out.name(), out.name()
        out.put(f"__shared__ {record.name} {array}[{self.threads}];")
        e.begin()
        out.put(f"{array}[t] = {record.name}{out.value_of(record, 1)};")
        out.put("__syncthreads();")
        e.begin()
        out.put(f"{record.name} {name} = {array}[{e.index(self.threads, 1)}];")
        out.put("__syncthreads();")
        out.add_object(record, name)

    def atomic(self) -> None:
        """All threads change cells of a shared or global array, in whatever order."""
        e, out, draw = self.expressions, self.writer, self.expressions.draw
        cell, name = out.name(), out.name()
        ctype = draw.choice(("int", "unsigned", "float"))
        function = draw.choice(("Add", "Sub", "Max", "Min", "And", "Or", "Xor"))
        many = draw.random() < 0.5
        if draw.random() < 0.3:
            e.begin()
            # Cells of its own: what two kinds of atomic leave depends on their order.
            place = f"&oi[{COMMON + 16 * self.counted} + ({e.index(16, 1)})]"
            self.counted += 1
            out.put(f"atomic{function}({place}, {e.exactly('int', e.depth)});")
            return
        out.put(f"__shared__ {ctype} {cell}{'[8]' if many else ''};")
        e.reserve()
        first = draw.randrange(100)
        if many:
            out.put(f"if (t < 8) {cell}[t] = {first};")
        else:
            out.put(f"if (t == {draw.randrange(self.threads)}) {cell} = {first};")
        out.put("__syncthreads();")
        if draw.random() < 0.5:
            out.put(f"if ({e.condition(2)})")
        place = f"&{cell}[{e.index(8, 1)}]" if many else f"&{cell}"
        if ctype == "float":  # of whole numbers the order makes no difference
            out.put(f"    atomicAdd({place}, (float)(({e.whole(e.depth).text}) & 1023));")
        else:
            out.put(f"    atomic{function}({place}, {e.exactly(ctype, e.depth)});")
        out.put("__syncthreads();")
        e.reserve()
        last = f"{cell}[{e.index(8, 1)}]" if many else cell
        out.put(f"{ctype} {name} = {last};")
        e.scope.append(Variable(name, ctype))

    def own_atomic(self) -> None:
        """A thread changes a cell that no other touches, and takes the old value."""
        e, out, draw = self.expressions, self.writer, self.expressions.draw
        name = out.name()
        e.reserve("moi")
        place = f"&oi[g * 4 + ({e.index(4, 1)})]"
        function = draw.choice(("Add", "Sub", "Max", "Min", "And", "Or", "Xor", "Exch", "CAS"))
        compared = f"{e.exactly('int', 1)}, " if function == "CAS" else ""
        value = e.exactly("int", e.depth)
        out.put(f"int {name} = atomic{function}({place}, {compared}{value});")
        e.scope.append(Variable(name, "int"))
