// Inline PTX for a C++ compiler of the host: an interpreter of the instructions that random kernels
// have. The oracle writes asm("…" : "=r"(a) : "r"(b)) as ptx("…", (a), (b)).
#include <map>
#include <string>
#include <vector>

static inline unsigned __cvta_generic_to_shared(const void* p) {
    return (unsigned)((const char*)p - (const char*)&running);
}

struct Assembly {
    typedef std::vector<std::string> Words;
    std::vector<bits64> operands;
    std::vector<bool> written;
    std::map<std::string, bits64> registers;

    static Words split(const std::string& text, const char* at) {
        Words words;
        size_t end = 0;
        for (size_t start; (start = text.find_first_not_of(at, end)) != text.npos;) {
            end = text.find_first_of(at, start);
            words.push_back(text.substr(start, end - start));
            if (end == text.npos) break;
        }
        return words;
    }
    static unsigned axis(const uint3& of, char name) {
        return name == 'x' ? of.x : name == 'y' ? of.y : of.z;
    }
    static bits64 special(const std::string& name) {
        const unsigned lane = running % 32;
        const bits64 one = 1ull << lane;
        if (name == "laneid") return lane;
        if (name == "lanemask_eq") return one;
        if (name == "lanemask_lt") return one - 1;
        if (name == "lanemask_le") return 2 * one - 1;
        if (name == "lanemask_gt") return ~(2 * one - 1);
        if (name == "lanemask_ge") return ~(one - 1);
        const uint3& of = name[0] == 't' ? threadIdx : name[0] == 'c' ? blockIdx
                          : name[1] == 't' ? blockDim : gridDim;
        return axis(of, name.back());
    }
    bits64 value(const std::string& word) const {
        if (word[0] == '%')
            return word[1] == '%' ? special(word.substr(2)) : operands.at(atoi(&word[1]));
        if (isdigit(word[0]) || word[0] == '-') return strtoull(word.c_str(), nullptr, 0);
        return registers.at(word);
    }
    void write(const std::string& word, bits64 bits) {
        if (word[0] != '%') {
            registers[word] = bits;
            return;
        }
        operands.at(atoi(&word[1])) = bits;
        written[atoi(&word[1])] = true;
    }
    char* shared(const std::string& word) const { return (char*)&running + (int)value(word); }

    // Of as many bits as a type such as s32 has, with its sign.
    static bits64 fitted(bits64 bits, const std::string& type) {
        if (type.substr(1) == "64") return bits;
        return type[0] == 's' ? (bits64)(int)bits : (unsigned)bits;
    }
    static double real(bits64 bits, bool wide) {
        return wide ? same_bits<double>(bits) : same_bits<float>((unsigned)bits);
    }
    static bits64 arithmetic(const std::string& operation, bool wide, bits64 a, bits64 b, bits64 c) {
        if (operation == "fma" && wide)
            return same_bits<bits64>(fma(real(a, true), real(b, true), real(c, true)));
        const float x = (float)real(a, false), y = (float)real(b, false), z = (float)real(c, false);
        return same_bits<unsigned>(
            operation == "fma" ? fmaf(x, y, z) : operation == "add" ? x + y
            : operation == "sub" ? x - y : x * y);
    }
    static bits64 permuted(bits64 a, bits64 b, bits64 selector) {
        const bits64 bytes = b << 32 | (unsigned)a;
        bits64 found = 0;
        for (int i = 0; i < 4; ++i)
            found |= (bytes >> 8 * (selector >> 4 * i & 7) & 255) << 8 * i;
        return found;
    }
    static bits64 whole(const Words& name, bits64 a, bits64 b) {
        const std::string& operation = name[0];
        if (operation == "add") return a + b;
        if (operation == "sub") return a - b;
        if (operation == "and") return a & b;
        if (operation == "or") return a | b;
        if (operation == "xor") return a ^ b;
        if (operation == "popc") return __builtin_popcountll((unsigned)a);
        if (operation == "clz") return (unsigned)a ? __builtin_clz((unsigned)a) : 32;
        if (operation == "brev") return __brev((unsigned)a);
        if (name[1] == "lo") return a * b;
        return a * b >> 32;  // of two of 32 bits, their signs extended
    }
    void load_matrices(const Words& name, const Words& words) {
        const int matrices = words.size() - 1, lane = running % 32;
        static const unsigned short* rows[MOST_THREADS];
        rows[running] = (const unsigned short*)shared(words.back());
        __syncthreads();
        const bool turned = name[5] == "trans";
        for (int m = 0; m < matrices; ++m) {
            const unsigned short* const* matrix = &rows[running / 32 * 32 + 8 * m];
            const int row = lane / 4, column = lane % 4 * 2;
            const unsigned low = turned ? matrix[column][row] : matrix[row][column];
            const unsigned high = turned ? matrix[column + 1][row] : matrix[row][column + 1];
            write(words[m], high << 16 | low);
        }
        __syncthreads();
    }
    void copy(const Words& words) const {
        const size_t bytes = value(words[2]), kept = words.size() > 3 ? value(words[3]) : bytes;
        memset(shared(words[0]), 0, bytes);
        memcpy(shared(words[0]), (const void*)value(words[1]), kept);
    }
    void execute(const std::string& line) {
        Words words = split(line, " ,{}[]\t\n");
        if (words.empty() || words[0] == ".reg") return;
        const Words name = split(words[0], ".");
        words.erase(words.begin());
        const std::string &operation = name[0], &type = name.back();
        if (operation == "bar" && name[1] == "sync") return __syncthreads();
        if (operation == "bar" || operation == "membar") return;
        if (operation == "ldmatrix") return load_matrices(name, words);
        if (operation == "cp") return name[2] == "ca" || name[2] == "cg" ? copy(words) : void();
        bits64 given[3] = {};
        for (size_t i = 1; i < words.size(); ++i) {
            given[i - 1] = value(words[i]);
            if (type[0] != 'f') given[i - 1] = fitted(given[i - 1], type);
        }
        const bits64 result = operation == "mov" ? given[0]
            : operation == "cvt" ? fitted(given[0], name[1])
            : operation == "prmt" ? permuted(given[0], given[1], given[2])
            : type[0] == 'f' ? arithmetic(operation, type == "f64", given[0], given[1], given[2])
                             : whole(name, given[0], given[1]);
        write(words[0], result);
    }
};

template <typename... T> static void ptx(const char* text, T&&... operands) {
    Assembly assembly;
    const auto bits = [](const auto& operand) {
        bits64 found = 0;
        memcpy(&found, &operand, sizeof operand);
        return found;
    };
    assembly.operands = {bits(operands)...};
    assembly.written.resize(sizeof...(operands));
    for (const std::string& line : Assembly::split(text, ";")) assembly.execute(line);
    size_t number = 0;
    const auto take = [&](void* operand, size_t size) {
        if (assembly.written[number]) memcpy(operand, &assembly.operands[number], size);
        ++number;
    };
    (take((void*)&operands, sizeof operands), ...);
}
