# Passkeys: the button of the login page, the step, the offer after a login, the account page.

passkey-use = Use a passkey
passkey-problem = The passkey was not used. Try again, or log in in another way.
passkey-no-script = A passkey needs JavaScript, and a browser that knows passkeys. Log in in another way.
passkey-wrong = This passkey was not accepted. Try again, or log in in another way.
passkey-expired = This page waited too long for the passkey. Try again.

passkey-step-title = Use your passkey
passkey-step-about = Confirm with your device that you are { $name }.

passkey-offer-title = Log in without a password
passkey-offer-about = With a passkey you log in by your fingerprint, your face or the lock of your device. It cannot be guessed, and no other site can ask for it.
passkey-offer-later = Not now

passkey-heading = Passkeys
passkey-about = A passkey logs you in by your fingerprint, your face or the lock of your device.
passkey-label = Name of the new passkey
passkey-label-hint = May stay empty.
passkey-add = Add a passkey
passkey-add-problem = No passkey was made. Perhaps this device has one for this account already.
passkey-added = The passkey was added. You can log in with it from now on.
passkey-add-no-script = To add a passkey needs JavaScript, and a browser that knows passkeys.
passkey-refused = The passkey was not accepted. Try again, or use another device.
passkey-model = Passkeys of this kind are not accepted here. Use another device or password manager.
passkey-known = This passkey is on your account already.
passkey-too-many = The account has as many credentials as it may have. Remove one first.
passkey-last-way = This is the last way into the account. Set a password or add another passkey first.
passkey-mail-copied-subject = A copy of your passkey may have been used
passkey-mail-copied = A login with a passkey of your account was refused: its counter did not go on, so there may be a copy of it. Remove this passkey and add a new one.
passkey-bound = Stays on this device
passkey-synced = Backed up
passkey-not-synced = Can be backed up, and is not
