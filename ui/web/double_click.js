// A double click presses a popover's button once: the second would close what the first is opening,
// and while the server answers the first, a third would find it in either state.
addEventListener("click", (event) => {
  if (event.detail > 1 && event.target.closest(".stPopover button")) event.stopImmediatePropagation();
}, true);
