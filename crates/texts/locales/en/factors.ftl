# Second factors: the steps of a login, the account page's part, and the pages behind it.

factors-step-who = You are logging in as { $name }.
factors-step-remember = { $days ->
    [one] Do not ask again in this browser for { $days } day
   *[other] Do not ask again in this browser for { $days } days
}
factors-step-other = Use another account
factors-totp-title = Enter a code from your app
factors-totp-label = Six-digit code
factors-totp-button = Use a code from your app
factors-totp-wrong = This is not the code that your app shows now. Each code works once.
factors-recovery-title = Enter a recovery code
factors-recovery-label = Recovery code
factors-recovery-about = Each code of your list works once. Cross it out afterwards.
factors-recovery-button = Use a recovery code
factors-recovery-wrong = This is not one of your recovery codes, or it was used. Each works once.
factors-password-title = Enter your password
factors-password-about = One more step: this needs your password, too.
factors-password-button = Use your password
factors-choose-title = One more step
factors-choose-about = This needs one more proof that it is you.

factors-title = Second factor
factors-none = Only your password or your mail protects this account. Add a second step with a code app.
factors-app = Code app
factors-passkey = Passkey
factors-browser = Remembered browser
factors-since = Added: { $since }
factors-used = last used { $used }
factors-until = until { $until }
factors-remove = Remove
factors-remove-one = Remove { $name }, since { $since }
factors-remove-text = You can no longer log in with it.
factors-removed = It was removed.
factors-rename = Rename
factors-rename-one = Rename { $name }
factors-name = Name
factors-renamed = The name was changed.
factors-browsers = Remembered browsers
factors-browsers-about = These browsers are not asked for a second factor.
factors-codes-none = You have no recovery codes. They let you in when your second factor is not at hand.
factors-codes-left = { $count ->
    [one] You have { $count } recovery code left. New codes replace it.
   *[other] You have { $count } recovery codes left. New codes replace them.
}
factors-codes-make = Make new recovery codes
factors-codes-title = Your recovery codes
factors-codes-about = Print these codes or write them down, and keep them where you find them without this device. Each works once. They are not shown again, and codes that you had before no longer work.
factors-codes-copy = Copy
factors-codes-copied = Copied.
factors-codes-print = Print
factors-codes-download = Download
factors-codes-kept = I have saved them

factors-add-button = Add a code app
factors-add-title = Add a code app
factors-add-required = Your account has to have a second factor. Set one up to go on.
factors-add-about = Scan the picture with an app that makes codes. Then type the code that it shows.
factors-add-cannot = Can’t scan?
factors-add-secret = Secret: { $secret }
factors-add-open = Open in an app on this device
factors-add-qr = The secret as a QR code
factors-add-name = Name of the app or device (optional)
factors-add-submit = Add
factors-add-wrong = This is not the code that the app shows now. Check the clock of its device, and try the next code.
factors-add-many = The account has as many code apps as it may have. Remove one first.
factors-added = The code app was added. From now on a login asks for its code.

# Mails about what happened to an account: subject and first sentence.
factors-mail-account = Account: { $name }
factors-mail-advice = If it was you, there is nothing to do. If it was not, log in at { $url }, change your password, end the sessions that you do not know, and tell whoever runs the server.
factors-mail-totp-added-subject = A code app was added to your account
factors-mail-totp-added = A code app was added as a second factor of your account.
factors-mail-totp-removed-subject = A code app was removed from your account
factors-mail-totp-removed = A code app was removed from the second factors of your account.
factors-mail-passkey-added-subject = A passkey was added to your account
factors-mail-passkey-added = A passkey was added to your account.
factors-mail-passkey-removed-subject = A passkey was removed from your account
factors-mail-passkey-removed = A passkey was removed from your account.
factors-mail-codes-made-subject = New recovery codes were made for your account
factors-mail-codes-made = New recovery codes were made for your account. Older ones no longer work.
factors-mail-codes-removed-subject = The recovery codes of your account were removed
factors-mail-codes-removed = The recovery codes of your account were removed.
factors-mail-code-used-subject = A recovery code was used to log in to your account
factors-mail-code-used = A recovery code was used to log in to your account.
factors-mail-password-changed-subject = The password of your account was changed
factors-mail-password-changed = The password of your account was changed.
factors-mail-password-removed-subject = The password of your account was removed
factors-mail-password-removed = The password of your account was removed.
factors-mail-provider-linked-subject = An identity provider was linked to your account
factors-mail-provider-linked = An identity provider was linked to your account: whoever logs in there logs in here.
factors-mail-provider-unlinked-subject = A link to an identity provider was removed from your account
factors-mail-provider-unlinked = A link to an identity provider was removed from your account.
factors-mail-address-changed-subject = The e-mail address of your account was changed
factors-mail-address-changed = The e-mail address of your account was changed. This message went to the address before.
factors-mail-agent-bound-subject = An agent identity was bound to your account
factors-mail-agent-bound = An agent identity was bound to your account: agents to which it delegates may act for you.
factors-mail-agent-unbound-subject = An agent identity was taken off your account
factors-mail-agent-unbound = An agent identity was taken off your account.
factors-mail-recovered-subject = A new password was set for your account
factors-mail-recovered = A new password was set for your account with a link that was mailed to you.
