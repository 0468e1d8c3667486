page-address-hint = 您正在访问 { $host }。输入密码前请核对地址栏是否一致。
page-or = 或
page-continue = 继续
page-cancel = 取消
page-allow = 允许
page-deny = 拒绝
page-language = 语言
page-language-change = 更改
page-privacy = 隐私
page-terms = 条款
page-help = 帮助
page-for-minutes = { $minutes ->
   *[other] 有效期 { $minutes } 分钟
}
page-close = 您可以关闭此页面。
page-not-set = 未设置
page-yes = 是
page-no = 否
page-logged-in-as = 您当前以 { $name } 的身份登录。
page-to-account = 前往您的账户
page-device-app-scheme = 此设备上的应用（{ $scheme }）
page-missing-title = 找不到页面
page-missing-heading = 没有这个页面
page-missing-text = 地址可能有误，或页面已移动。
