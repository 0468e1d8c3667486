# An account that is to be erased.

account-delete = 删除我的账号
account-delete-act = 删除
account-delete-ask = 删除账号 { $name }？
account-delete-text = 会话、应用和令牌会立即终止。账号将在 { $days } 天后被永久清除；在此之前，您可以通过发送给您的邮件中的链接保留它。
account-delete-sure = 我希望清除我的账号。
account-delete-confirm = 要删除账号，请勾选此框。

deletion-title = 您的账号将被清除
deletion-when = 清除时间：
deletion-mailed = 在此之前您可以保留它：带有链接的邮件正发往您的邮箱。
deletion-ask = 在此之前，此服务器的管理者可以为您保留它。
deletion-keep-title = 保留您的账号？
deletion-keep = 保留账号
deletion-kept = 账号已保留。请登录。

error-keep-account = 此链接已失效：账号已被保留或已清除。

mail-deletion-subject = 您在 { $brand } 的账号将被清除
mail-deletion-text = 您的账号将于 { $time } 清除。在此之前任何人都无法登录。
mail-deletion-keep = 要保留它，请打开此链接并确认：
mail-erased-subject = 您在 { $brand } 的账号已清除
mail-erased-text = 您的账号及其保存的所有内容均已清除。
