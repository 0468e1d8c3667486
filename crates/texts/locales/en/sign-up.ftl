# An account that a person makes, and an invitation to one.

login-sign-up = Create an account

sign-up-title = Create an account
sign-up-text = A link goes to your e-mail address. Behind it you set your password.
sign-up-email = E-mail address
sign-up-send = Send the link
sign-up-have = I have an account
sign-up-sent = A mail is on its way to this address. Its link works once, { page-for-minutes }.
sign-up-address-wrong = This is not an e-mail address.
sign-up-domain = Addresses of this domain cannot be used to create an account here.
sign-up-ended = This link has expired or was used. Ask for a new one, or log in.
sign-up-for = You log in with { $name }.
sign-up-invited-by = { $by } invited you.
sign-up-invited-for = Choose your password. You log in with { $name }.
sign-up-name = Your name (optional)
sign-up-name-wrong = This name is too long or has characters that a name cannot have.
sign-up-terms = I accept the terms.
sign-up-terms-link = Read them
sign-up-terms-missing = To go on, accept the terms.
sign-up-submit = Create the account
sign-up-done = The account is ready. Log in with the password that you have just set.
sign-up-elsewhere = The account is ready. Go back to the browser where you began and log in there: it takes you on to the application. Or log in here to your account.

error-no-sign-up = Nobody can create an account here. Ask whoever runs this server for one.
error-invitation = This invitation was accepted or withdrawn, or has expired. Log in, or ask whoever invited you for a new one.

mail-sign-up-subject = Create your account at { $brand }
mail-sign-up-text = Create your account at { $brand }:
mail-sign-up-button = Create the account
mail-sign-up-known-subject = You have an account at { $brand }
mail-sign-up-known = Somebody wanted to create an account for this address at { $brand }. It has one already.
mail-sign-up-login = Log in
mail-sign-up-recover = If you have forgotten the password: { $url }
mail-sign-up-ignore = If this was not you, you can ignore this message.
mail-invitation-subject = You were invited to { $brand }
mail-invitation-text = You were invited to { $brand }. Choose your password to log in:
mail-invitation-by = { $by } invited you to { $brand }. Choose your password to log in:
mail-invitation-button = Choose your password
mail-invitation-until = The link works once, until { $time }.
