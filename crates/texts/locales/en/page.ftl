# What stands around every page.

page-address-hint = You are at { $host }. Check that the address bar says so before you type a password.
page-or = or
page-continue = Continue
page-cancel = Cancel
page-allow = Allow
page-deny = Deny
page-language = Language
page-language-change = Change
page-privacy = Privacy
page-terms = Terms
page-help = Help
# How long, as in "It works once, for 5 minutes."
page-for-minutes = { $minutes ->
    [one] for { $minutes } minute
   *[other] for { $minutes } minutes
}
page-close = You can close this page.
page-not-set = not set
page-yes = yes
page-no = no
page-logged-in-as = You are logged in as { $name }.
page-to-account = Go to your account
page-device-app-scheme = an app on this device ({ $scheme })

# A page of a path that nothing has.
page-missing-title = Page not found
page-missing-heading = There is no such page
page-missing-text = The address may be mistyped, or the page may have moved.
