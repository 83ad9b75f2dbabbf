"""The Write page: a user kernel, what is wrong with it, and what it costs."""

from __future__ import annotations

import html
import logging
import re
from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from simulator import LaunchError, SourceError, catalogue
from simulator.broken_file import Broken, BrokenFileError
from simulator.exercises.exercise import Exercise, exercises
from simulator.frontend.directives import check_length
from simulator.language.files import files_of
from simulator.verdict.form import LaunchForm, UserKernel
from simulator.verdict.verdict import State
from ui.drawing.palette import PALETTES
from ui.glossary.component import explain_words
from ui.jobs.settings import WRITE_IS_OFF, may_write
from ui.jobs.workers import StoppedError, WorkerLostError
from ui.lessons.progress_section import draw_progress_file, remember_progress, restore_book
from ui.machine_code.section import TITLE, draw_machine_code
from ui.run.broken_section import draw_broken, list_broken
from ui.run.cache import answers
from ui.run.displayed_hazard import DisplayedHazard
from ui.run.mailbox import STEP_PAGE, mailbox, open_view
from ui.step.state import step_state
from ui.user_kernel.draft import BLANK, Draft
from ui.user_kernel.editor import Document, draw_editor
from ui.user_kernel.examine import Examined, examine, suggest_form
from ui.user_kernel.exercise_section import (
    draw_exercise,
    draw_exercise_list,
    draw_exercise_result,
    headline,
)
from ui.user_kernel.gpu_section import draw_user_kernel_gpu
from ui.user_kernel.judged import check_exercise, judge_user_kernel
from ui.user_kernel.launch_section import draw_launch
from ui.user_kernel.launch_text import summarize_launch
from ui.user_kernel.problems import Problem, mark_hazards, mark_line
from ui.user_kernel.uploads import ENDINGS, ZIP, UploadError, openable, read_files, zipped
from ui.user_kernel.verdict_section import draw_first_button, draw_verdict
from ui.view import presets, user_kernel_link
from ui.view.small_kernels import is_small
from ui.view.view_url import View, describe_unknown, from_query, to_query
from ui.web_page import navigation_query
from ui.web_page.announcer import announce
from ui.web_page.browser import browser_theme
from ui.web_page.downloads import download_button
from ui.web_page.plain_text import plain_text
from ui.web_page.popover import close_popovers, draw_popover
from ui.web_page.press import press
from ui.web_page.style import draw_style, paper_style
from ui.web_page.write_style import write_style

INTRODUCTION = """\
**Write a kernel, or paste a file.** Errors are marked as you type. **Check** runs it at several
sizes in the simulator, and says what to do next; no GPU is needed.

**Start from** has exercises with hints, and kernels to change.
"""
CHANGED = "You have changed the code since this check. Check it again."
LOGGER = logging.getLogger(__name__)
# Keys of the session state.
DRAFT, QUERY = "write_draft", "write_query"
EXERCISE = "exercise"  # of the address


def draw_page() -> None:
    """Draw the page."""
    draw_style(write_style(PALETTES[browser_theme()]) + paper_style())
    st.html("<h1 class='for-screen-readers'>Tilewise: write a kernel</h1>")
    if not may_write():
        st.info(WRITE_IS_OFF, icon=":material/info:")
        return
    explain_words(open_view)
    draft = restore_draft()
    if draft.is_chosen:
        set_address(draft, None)
        close_popovers()
        draft.is_chosen = False  # last, for a run may be interrupted
    draw_draft(draft)


def restore_draft() -> Draft:
    """The visitor's draft: that of a new address, else the one there is, else what they saw last.

    An address with source that this visitor has had in the editor changes nothing, nor does
    one with a kernel of the glossary, which they saw on the Step page: it replaces no text.
    """
    state, query = st.session_state, st.query_params.to_dict()
    draft: Draft | None = state.get(DRAFT)
    is_new = draft is None
    if draft is None:
        draft = state[DRAFT] = Draft(Document(0, "", ""), book=restore_book())
    if is_new or asked(query) != state.get(QUERY):
        user_kernel = linked_kernel(query.get(user_kernel_link.PARAMETER, ""))
        wanted = query.get(EXERCISE, "")
        named = exercises().everything.get(wanted)
        exercise = None if isinstance(named, Broken) else named
        if isinstance(named, Broken):
            draw_broken(named)
        elif wanted and named is None:
            st.warning(plain_text(describe_unknown(EXERCISE, wanted, list(exercises()))))
        if exercise is not None and exercise.name != draft.exercise:
            is_foreign = user_kernel is not None and user_kernel.text not in draft.seen
            draft.open_exercise(
                exercise, user_kernel.text if user_kernel is not None and is_foreign else None
            )
        elif (
            user_kernel is not None
            and user_kernel.text not in draft.seen
            and (is_new or not is_small(user_kernel))
        ):
            open_user_kernel(draft, user_kernel)
        elif is_new:
            open_kernel(draft, query)
    state[QUERY] = asked(query)
    return draft


def open_kernel(draft: Draft, query: Mapping[str, str]) -> None:
    """Open the kernel of the Step page's address; a blank one where it cannot be read."""
    try:
        view = from_query(query)[0]
        draft.open(presets.source(view), catalogue()[view.kernel].title)
    except BrokenFileError as error:
        draw_broken(error)
        draft.open(BLANK, "A blank kernel")


def asked(query: Mapping[str, str]) -> tuple[str | None, ...]:
    """What an address says of a text to write."""
    return query.get(user_kernel_link.PARAMETER), query.get(EXERCISE)


def linked_kernel(text: str) -> UserKernel | None:
    """The kernel of an address; None without one that can be read."""
    if not text:
        return None
    if text == user_kernel_link.IN_SESSION:
        kept: UserKernel | None = st.session_state.get(user_kernel_link.SESSION_KEY)
        return kept
    try:
        return user_kernel_link.decode(text)
    except user_kernel_link.LinkError as error:
        st.warning(plain_text(str(error)))
        return None


def open_user_kernel(draft: Draft, user_kernel: UserKernel) -> None:
    """Open a kernel with its launch."""
    draft.open(user_kernel.text, "The kernel's code", wanted=user_kernel.kernel)
    if look_at(draft).kernel == user_kernel.kernel:
        suggested = suggest(draft, user_kernel.text, user_kernel.kernel)
        if suggested is not None:
            draft.open_user_kernel(user_kernel, "The kernel's code", suggested)


def look_at(draft: Draft) -> Examined:
    """What the draft's text is. Whatever it is, the page goes on."""
    try:
        check_length(draft.text)  # before it is kept with the answers
        return answers().ask(examine, draft.text, draft.wanted, is_quiet=True)
    except Exception as error:  # else the visitor could not mend the text
        return Examined((), "", (mark_line(draft.text, 1, explain(error), "error"),))


def suggest(draft: Draft, text: str, kernel: str) -> LaunchForm | None:
    """How a kernel is launched: as its exercise does it, else as its text lets guess.

    None where that fails; the draft has the reason.
    """
    exercise = exercises().get(draft.exercise)
    if exercise is not None and exercise.kernel == kernel:
        return exercise.form
    try:
        return answers().ask(suggest_form, text, kernel, is_quiet=True)
    except Exception as error:  # as above
        draft.form_problem = explain(error)
        return None


def explain(error: Exception) -> str:
    """An error as a sentence; one that is none of ours was not foreseen, and goes to the log."""
    if isinstance(error, SourceError | LaunchError | StoppedError | WorkerLostError):
        return str(error)
    LOGGER.error("The Write page failed on some code.", exc_info=error)
    return (
        "Tilewise failed on this code. This is a bug in Tilewise, not in the code: please "
        "report it, with the code."
    )


def draw_draft(draft: Draft) -> None:
    """Draw the row of controls, the editor, and beside it what is to be said.

    What is wrong with the text comes first: the launch takes longer to guess.
    """
    controls = st.container(key="controls", horizontal=True, vertical_alignment="center")
    left, right = st.columns([12, 8], gap="medium")
    examined = look_at(draft)
    with left:
        launched = st.container(key="launched")
        draw_text(draft, examined)
    suggested, user_kernel = None, None
    code = "<span class='none'>The launch appears as soon as the kernel compiles.</span>"
    draft.form_problem = ""
    if examined.compiles:
        suggested = suggest(draft, draft.text, examined.kernel)
    if suggested is not None:
        form = draft.form(examined.kernel, suggested)
        user_kernel = UserKernel(draft.text, examined.kernel, form)
        code = f"<code>{html.escape(summarize_launch(user_kernel.kernel, user_kernel.form))}</code>"
        if len(examined.kernels) > 1:
            number = examined.kernels.index(user_kernel.kernel) + 1
            place = f"Kernel {number} of {len(examined.kernels)}, see Launch: "
            code = f"<span class='none'>{place}</span>{code}"
    launched.html(f"<p class='launched'>{code}</p>")
    with controls:
        draft.wants_check |= draw_controls(draft, examined, suggested, user_kernel)
    with right:
        if draft.wants_check:
            check(draft, user_kernel)
        draw_result(draft, user_kernel)
    announce(draft.checks, verdict_sentence(draft))
    if draft.checked is not None:
        draw_compiled(draft.checked.user_kernel)
    if may_run_on_gpu(draft):
        st.divider()
        st.subheader("On the GPU", anchor=False)
        draw_user_kernel_gpu(draft, user_kernel)


def draw_compiled(user_kernel: UserKernel) -> None:
    """Draw the machine code of a kernel that was checked, once its visitor asks for it."""
    section = st.expander(
        TITLE, icon=":material/memory:", key="write_machine_code", on_change="rerun"
    )
    if section.open:
        with section:
            draw_machine_code(View(user_kernel=user_kernel))


def may_run_on_gpu(draft: Draft) -> bool:
    """Whether the last verdict lets the kernel run on a GPU."""
    return draft.checked is not None and draft.checked.verdict.state is State.RIGHT


def draw_controls(
    draft: Draft, examined: Examined, suggested: LaunchForm | None, user_kernel: UserKernel | None
) -> bool:
    """Draw the row of controls; return whether Check was clicked."""
    draw_popover("Start from", ":material/note_add:", "starts", partial(draw_starts, draft))
    draw_form = partial(draw_launch, draft, examined, suggested)
    draw_popover("Launch", ":material/rocket_launch:", "launch", draw_form)
    save = partial(draw_files, draft, user_kernel)
    draw_popover("File and link", ":material/save:", "write_files", save)
    if press(
        st.button, "Step through it", "write_step", icon=":material/steps:",
        disabled=user_kernel is None,
        help="Open the scene of this kernel, at the launch that is chosen.",
    ):  # fmt: skip
        assert user_kernel is not None
        open_scene(draft, View(user_kernel=user_kernel))
    return press(
        st.button, "Check", "write_check", type="primary", icon=":material/fact_check:",
        help="Run it in the simulator at several sizes. Ctrl+Enter does the same.",
    )  # fmt: skip


def draw_starts(draft: Draft) -> None:
    """Draw what a visitor may start from."""
    first, second = st.tabs(["Exercises", "Kernels"])
    with first:
        draw_exercise_list(draft.book.progress, draft.choose_exercise)
        draw_progress_file(draft.book, draft.open_progress)
    with second:
        st.button(
            "A blank kernel", key="start_blank", width="stretch", on_click=draft.choose,
            args=(BLANK, "A blank kernel"),
        )  # fmt: skip
        for name, entry in catalogue().everything.items():
            if isinstance(entry, Broken):
                list_broken([entry])
                continue
            st.button(
                plain_text(entry.title), key=f"start_{name}", width="stretch", help=entry.teaches,
                on_click=draft.choose, args=(entry.source(), entry.title),
            )  # fmt: skip


def draw_files(draft: Draft, user_kernel: UserKernel | None) -> None:
    """Draw how source is opened and saved, and its link."""
    uploaded = st.file_uploader(
        "Open a .cu file and its headers, or a ZIP with all the files",
        [*ENDINGS, ZIP],
        accept_multiple_files=True, key=f"open {draft.document.number}", max_upload_size=1,
    )  # fmt: skip
    if uploaded:
        draw_uploaded(draft, [(one.name, one.getvalue()) for one in uploaded])
    name = user_kernel.kernel.split("::")[-1].split("<")[0] if user_kernel else "kernel"
    name = re.sub(r"\W", "", name)[:80] or "kernel"
    download_button(
        "Save as .cu", draft.text.encode, f"{name}.cu", "text/plain", ":material/download:"
    )
    if len(files_of(draft.text)) > 1:
        download_button(
            "Save all files as a ZIP", lambda: zipped(draft.text, f"{name}.cu"), f"{name}.zip",
            "application/zip", ":material/folder_zip:",
        )  # fmt: skip
    if user_kernel is None:
        st.caption("Only code that compiles can have a link.")
        return
    link = user_kernel_link.encode(user_kernel)
    if link is None:
        st.caption("This code is too long for a link: save it, and share the file.")
    else:
        st.caption("A link to this code and its launch")
        st.code(f"{(st.context.url or '').split('?')[0]}?{user_kernel_link.PARAMETER}={link}", None)


def draw_uploaded(draft: Draft, uploaded: Sequence[tuple[str, bytes]]) -> None:
    """Open what was uploaded; ask which file where several may be meant."""
    try:
        texts = openable(read_files(uploaded))
    except UploadError as error:
        st.error(plain_text(str(error)))
        return
    if len(texts) == 1:
        ((name, text),) = texts.items()
        draft.choose(text, name)
        st.rerun()
    st.caption("Several of these files have kernels: which one should be opened?")
    for number, (name, text) in enumerate(texts.items()):
        st.button(
            plain_text(name), key=f"opened_{number}", width="stretch", on_click=draft.choose,
            args=(text, name),
        )  # fmt: skip


def draw_text(draft: Draft, examined: Examined) -> None:
    """Draw the editor, and keep what is in it now."""
    problems: tuple[Problem, ...] = examined.problems
    checked = draft.checked
    if checked is not None and checked.user_kernel.text == draft.text:
        problems = (*problems, *mark_hazards(draft.text, checked.verdict))
    edited = draw_editor(draft.document, draft.edited, problems, draft.ask_check)
    remember_progress(draft.book)
    if edited is not None and edited.number == draft.document.number and edited != draft.edited:
        draft.edit(edited)
        st.rerun()


def check(draft: Draft, user_kernel: UserKernel | None) -> None:
    """Judge the kernel, and put it into the address."""
    draft.problem = ""
    if user_kernel is None:
        draft.problem = draft.form_problem or (
            "The code does not compile yet: first fix what is listed below it."
        )
        draft.wants_check = False
        draft.checks += 1
        return
    draft.seen.add(user_kernel.text)
    set_address(draft, user_kernel)
    try:
        if draft.exercise:
            result = answers().ask(
                check_exercise,
                draft.exercise,
                user_kernel.text,
                is_long=True,
                on_stop=draft.note_stopped,
            )
            draft.keep_result(user_kernel, result)
        else:
            verdict = answers().ask(
                judge_user_kernel, user_kernel, None, is_long=True, on_stop=draft.note_stopped
            )
            draft.keep_verdict(user_kernel, verdict)
    except Exception as error:  # as above
        draft.problem = explain(error)
    draft.checks += 1
    draft.wants_check = False  # last, for a run may be interrupted
    st.rerun()


def set_address(draft: Draft, user_kernel: UserKernel | None) -> None:
    """Put a kernel, and the exercise that is open, into the address; without one the view stays."""
    if user_kernel is not None:
        query = user_kernel_link.to_query(user_kernel)
        # For an address that cannot hold it.
        st.session_state[user_kernel_link.SESSION_KEY] = user_kernel
    else:
        query = st.query_params.to_dict()
        query.pop(user_kernel_link.PARAMETER, None)
        query.pop(EXERCISE, None)
    if draft.exercise:
        query[EXERCISE] = draft.exercise
    st.session_state[QUERY] = asked(query)
    st.query_params.from_dict(query)
    navigation_query.keep(query)


def draw_result(draft: Draft, user_kernel: UserKernel | None) -> None:
    """Draw the exercise, the verdict, or what to do until there is one."""
    exercise = exercises().get(draft.exercise)
    problem = draft.problem or draft.form_problem
    if problem:
        st.error(plain_text(problem), icon=":material/error:")
    checked, result = draft.checked, draft.result
    scene = partial(open_scene, draft)
    if checked is not None:
        is_current = checked.user_kernel == user_kernel
        heading = "The verdict on this code" if is_current else CHANGED
        st.html(f"<p class='{'current' if is_current else 'changed'}'>{heading}</p>")
    if exercise is not None:
        if result is not None:
            draw_exercise_result(
                result, next_exercise(exercise), draft.choose_exercise,
                lambda: (
                    draw_first_button(checked.user_kernel, checked.verdict, scene)
                    if checked
                    else None
                ),
            )  # fmt: skip
        attempt = draft.book.progress.attempt(exercise.name)
        draw_exercise(exercise, attempt, draft.open_hint)
        if checked is not None:
            with st.expander("Everything that was measured", icon=":material/monitoring:"):
                draw_verdict(checked.user_kernel, checked.verdict, scene)
    elif checked is not None:
        draw_verdict(checked.user_kernel, checked.verdict, scene)
    elif not problem:
        st.markdown(INTRODUCTION)


def verdict_sentence(draft: Draft) -> str:
    """What the last check found, in a sentence; "" before the first one."""
    if draft.problem:
        return draft.problem
    if draft.result is not None:
        return headline(draft.result)
    return draft.checked.verdict.next_step if draft.checked is not None else ""


def next_exercise(exercise: Exercise) -> Exercise | None:
    """The exercise that follows upon another; None after the last one."""
    found = list(exercises().values())
    index = found.index(exercise) + 1
    return found[index] if index < len(found) else None


def open_scene(
    draft: Draft, view: View, displayed: DisplayedHazard | None = None, line: int | None = None
) -> None:
    """Go to the Step page: at a hazard, at the line of the view's thread, or at the first beat."""
    assert view.user_kernel is not None
    draft.seen.add(view.user_kernel.text)
    begins = displayed is None and line is None
    mailbox().request(view, displayed=displayed, line=line, begins=begins)
    # The address of the Step page, if it was there: another one would count as a link.
    st.switch_page(STEP_PAGE, query_params=step_state().address or to_query(view))


if __name__ == "__main__":  # run by Streamlit; not by a test's workers, which import it
    draw_page()
