# Mails. The code stands plainly in the text, on a line of its own.

mail-code-subject = { $code } is your login code for { $brand }
mail-code-is = is your code to log in at { $brand }.
mail-code-client = You are logging in to { $client }.
mail-code-once = It works once, { page-for-minutes }, in the browser that asked for it.
mail-code-link = Or open this link in the same browser:
mail-code-button = Log in
mail-code-ignore = If you did not ask for it, you can ignore this message. Give the code to nobody.
mail-recover-subject = Set a new password for { $brand }
mail-recover-text = Set a new password for your account at { $brand }:
mail-recover-button = Set a new password
mail-recover-once = The link works once, { page-for-minutes }. If you did not ask for it, you can ignore this message.

# One mail for each change of what an account is protected by.
mail-new-device-subject = New login to your account at { $brand }
mail-new-device = Somebody logged in to your account from a browser that had not been used with it before.
mail-when = When: { $time }
mail-where = From where: { $browser }, { $address }
mail-account-button = Open your account
mail-why-entered = You get this mail because this address was entered at { $brand }, { $server }
mail-why-account = You get this mail because it is about your account { $name } at { $brand }, { $server }
mail-why-invited = You get this mail because an account was made for this address at { $brand }, { $server }
