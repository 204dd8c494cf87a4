// Help of lists: their title is on a frame around what has the focus, which screen readers do not tell; so it is told there.
const describe = () => document.querySelectorAll("[title] > input[role=combobox]").forEach((input) => {
  const { title } = input.parentElement;
  if (input.getAttribute("aria-description") !== title) input.setAttribute("aria-description", title);
});
new MutationObserver(describe).observe(document.documentElement, { childList: true, subtree: true });
