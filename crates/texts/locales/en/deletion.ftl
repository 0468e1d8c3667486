# An account that is to be erased.

account-delete = Delete my account
account-delete-act = Delete
account-delete-ask = Delete the account { $name }?
account-delete-text = Sessions, applications and tokens end at once. { $days ->
    [one] After { $days } day the account is erased for good; until then you can keep it, by a link that is mailed to you.
   *[other] After { $days } days the account is erased for good; until then you can keep it, by a link that is mailed to you.
}
account-delete-sure = I want my account to be erased.
account-delete-confirm = To delete your account, tick the box.

deletion-title = Your account will be erased
deletion-when = It is erased at:
deletion-mailed = Until then you can keep it: a mail with a link is on its way to you.
deletion-ask = Until then whoever runs this server can keep it for you.
deletion-keep-title = Keep your account?
deletion-keep = Keep the account
deletion-kept = The account stays. Log in to it.

error-keep-account = This link no longer works: the account was kept already, or it is erased.

mail-deletion-subject = Your account at { $brand } will be erased
mail-deletion-text = Your account will be erased at { $time }. Until then nobody can log in to it.
mail-deletion-keep = To keep it, open this link and confirm:
mail-erased-subject = Your account at { $brand } was erased
mail-erased-text = Your account was erased, with everything that was kept of it.
