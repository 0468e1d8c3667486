"use strict";
// After a logout: once the frames have told their applications, on to where the application wanted. One that
// does not answer holds up nobody for long.
(() => {
  const onward = document.getElementById("onward");
  if (!onward) return;
  let left = false;
  const leave = () => {
    if (left) return;
    left = true;
    location.replace(onward.href);
  };
  addEventListener("load", leave);
  setTimeout(leave, 5000);
})();
