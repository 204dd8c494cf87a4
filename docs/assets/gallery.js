// Browsers keep about 16 WebGL contexts a page, and frames are lazy over http alone: those far from view are emptied.
const near = new IntersectionObserver((seen) => {
  for (const { target, isIntersecting } of seen) {
    const shown = target.dataset.shown !== "no";
    if (shown === isIntersecting) continue;
    target.dataset.shown = isIntersecting ? "yes" : "no";
    target.contentWindow.location.replace(isIntersecting ? target.src : "about:blank");
  }
}, { rootMargin: "100% 0px" });
for (const frame of document.querySelectorAll("iframe.canvas")) near.observe(frame);
