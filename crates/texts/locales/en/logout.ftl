# The end of a session.

logout-title = Log out?
logout-asked-by = { $client } asks to log you out.
logout-then = After it you go to { $host }.
logout-submit = Log out
logout-stay = Stay logged in
logout-stayed-title = Still logged in
logout-stayed-heading = You are still logged in
logout-stayed = Nothing was changed.
logout-done-title = Logged out
logout-done-heading = You are logged out
logout-done = You are logged out on this browser.
logout-again = Log in again
