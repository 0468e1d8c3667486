# What did not work, and leaving for a place that nobody has checked.

error-title = Something is not right
error-heading = This did not work
error-code = Error: { $code }
error-request = Request: { $id }
error-start-again = Go back to the application that sent you here and start again. If it happens again, give these lines to whoever runs it.
error-expired = This page is too old. Go back to the application that sent you here and start again.
error-cookies = This browser keeps no cookies for this site, and without them nobody can be logged in. Allow cookies for it and start again.
error-unavailable = This is temporarily unavailable. Try again in a few minutes.
error-no-mail = This server cannot send mail. Ask whoever runs it for a new password.
error-answered = This page was answered already. Go back to the application and start again.

error-going-back = Going back
error-going-back-text = You are being sent back to the application.

error-leaving-title = That did not work
error-leaving-asked = An application asked for something that cannot be done.
error-leaving-told = The application receives: { $description }
error-leaving-wants = It wants you back at { $host }. Nobody has checked who runs it. If you do not know it, close this page.
error-leaving-go = Go on to { $host }
