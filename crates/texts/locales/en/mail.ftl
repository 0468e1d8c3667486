# Mails. The code stands plainly in the text, on a line of its own.

mail-code-subject = Your login code
mail-code-is = is your code to log in at { $server }.
mail-code-once = { $minutes ->
    [one] It works once, for { $minutes } minute, in the browser that asked for it.
   *[other] It works once, for { $minutes } minutes, in the browser that asked for it.
}
mail-code-link = Or open this link in the same browser:
mail-code-ignore = If you did not ask for it, you can ignore this message. Give the code to nobody.
mail-recover-subject = Set a new password
mail-recover-text = Set a new password for your account at { $server }:
mail-recover-once = The link works once, for { $minutes } minutes. If you did not ask for it, you can ignore this message.
