# An account that a person makes, and an invitation to one.

login-sign-up = 创建账号

sign-up-title = 创建账号
sign-up-text = 我们会向您的电子邮箱发送一个链接，打开后即可设置密码。
sign-up-email = 电子邮箱
sign-up-send = 发送链接
sign-up-have = 我已有账号
sign-up-sent = 邮件正发往此邮箱。其中的链接只能使用一次，{ page-for-minutes }。
sign-up-address-wrong = 这不是电子邮箱地址。
sign-up-domain = 不能用此域名的邮箱在这里创建账号。
sign-up-ended = 此链接已过期或已被使用。请重新获取，或直接登录。
sign-up-for = 您用 { $name } 登录。
sign-up-invited-by = { $by } 邀请了您。
sign-up-invited-for = 请选择您的密码。您用 { $name } 登录。
sign-up-name = 您的姓名（选填）
sign-up-name-wrong = 此姓名过长，或含有不能用于姓名的字符。
sign-up-terms = 我接受条款。
sign-up-terms-link = 阅读条款
sign-up-terms-missing = 要继续，请接受条款。
sign-up-submit = 创建账号
sign-up-done = 账号已就绪。请用刚设置的密码登录。
sign-up-elsewhere = 账号已就绪。请回到您开始时的浏览器并在那里登录，它会带您进入应用。也可以在这里登录您的账号。

error-no-sign-up = 这里不能自行创建账号。请向此服务器的管理者申请。
error-invitation = 此邀请已被接受、撤回或已过期。请登录，或向邀请您的人索取新的邀请。

mail-sign-up-subject = 创建您在 { $brand } 的账号
mail-sign-up-text = 创建您在 { $brand } 的账号：
mail-sign-up-button = 创建账号
mail-sign-up-known-subject = 您在 { $brand } 已有账号
mail-sign-up-known = 有人想在 { $brand } 用此邮箱创建账号。此邮箱已有账号。
mail-sign-up-login = 登录
mail-sign-up-recover = 如果忘记了密码：{ $url }
mail-sign-up-ignore = 如果不是您本人操作，请忽略此邮件。
mail-invitation-subject = 邀请您加入 { $brand }
mail-invitation-text = 您受邀加入 { $brand }。请选择登录用的密码：
mail-invitation-by = { $by } 邀请您加入 { $brand }。请选择登录用的密码：
mail-invitation-button = 选择密码
mail-invitation-until = 链接只能使用一次，有效期至 { $time }。
