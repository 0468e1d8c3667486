# The login page, the page of the mailed code, and the choice of an account.

login-title = Log in
login-for-client = to continue to { $client }
login-username = User name or e-mail address
login-password = Password
login-submit = Log in
login-new-here = New here?
login-forgotten = Forgotten your password?
login-name-first = Type your user name or e-mail address first.
login-password-wrong = The user name or password is not right.
login-use-password = Use a password instead

login-email-button = E-mail me a code instead
login-email-again = If the account exists, a new code is on its way. The one before no longer works.
login-email-wrong = This is not the code. Look at the latest mail.
login-email-expired = This code has expired. Ask for a new one.

login-code-title = Enter the code
login-code-heading = Check your mail
login-code-about = If { $name } belongs to an account here, a six-digit code is on its way to its e-mail address. It works once, in this browser, { page-for-minutes }.
login-code-spam = Nothing there? Look into the spam folder too.
login-code-label = Code
login-code-resend = Send a new code

# The link beside a mailed code.
login-link-title = Log in with the code
login-link-about = The code from your mail is filled in. Continue as { $name }.
login-link-elsewhere-title = This is another browser
login-link-elsewhere = The link works only in the browser that asked for it, and nobody was logged in here. Go back to that browser and type the code from the mail.
login-link-ended-title = This link no longer works
login-link-ended = The code was used or has expired. Ask for a new one where you want to log in.

login-select-title = Choose an account
login-select-continue = Continue as { $name }
login-select-other = Use another account

# Why an attempt was not looked at.
login-too-many = There were too many attempts. Wait a few minutes and try again.
login-busy = Many people are logging in at the moment. Try again in a few seconds.
login-kept-elsewhere = This is kept in the directory that your account comes from. Change it there.
login-password-too-long = The new password is too long.
login-first-password = The password of { $name } was set by somebody else. To go on, choose a new one that only you know.
login-first-password-same = This is the temporary password. Choose another one.
