"use strict";
// The page answers a form. Back and Reload would have the browser send the form again, or refuse (Chromium's
// ERR_CACHE_MISS): from here on they ask for an address that leads to the same place.
history.replaceState(null, "", document.currentScript.dataset.again);
