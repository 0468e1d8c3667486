# The console, where people administer.

console-title = 控制台
console-menu = 菜单
console-skip = 跳到页面内容
console-way = 此页面的位置
console-realm = 领域
console-find = 按姓名或地址查找人员
console-account = 您的账户
console-leave = 退出登录
console-session-about = 控制台在 30 分钟未使用或 8 小时后关闭。
console-overview = 概览
console-people = 人员
console-applications = 应用
console-live = 正在使用
console-server = 安装
console-explain = 解释访问
console-token = 查看令牌
console-audit = 审计记录
console-settings = 设置
console-drift = 计划与偏差
console-operations = 所有操作

console-kind-users = 人员
console-kind-groups = 组
console-kind-roles = 角色
console-kind-attributes = 属性
console-kind-rules = 访问规则
console-kind-clients = 客户端
console-kind-resources = 资源服务器
console-kind-scopes = 范围
console-kind-providers = 身份提供方
console-kind-realms = 领域
console-kind-keys = 签名密钥
console-kind-sessions = 会话
console-kind-grants = 授权
console-kind-consents = 同意
console-kind-credentials = 因素
console-kind-agents = 代理
console-kind-nodes = 节点

console-yes = 是
console-no = 否
console-none = 这里没有内容。
console-add = 添加
console-change = 更改
console-remove = 移除
console-save = 保存
console-show = 显示
console-end = 结束
console-go-on = 继续
console-search = 搜索
console-filter = 筛选
console-any = 任意
console-all = 显示全部
console-pages = 分页
console-first-page = 第一页
console-next-page = 下一页
console-older = 更早
console-acts = 可以做的事
console-record = 记录
console-result = 结果
console-as-table = 以表格显示
console-default = 默认：
console-required = 必填
console-unset = 按默认
console-one-a-line = 每行一个。
console-as-json = JSON。
console-more-fields = 更多字段：{ $count }
console-recorded = 此操作会记入审计记录。
console-done = 已完成，并记入审计记录。
console-once = 请立即保存此处的机密内容：不会再次显示。

console-refused = 未执行。
console-not-allowed = 您以 { $name } 登录。此账户不能在此管理。
console-form-old = 表单已过期，或不是来自此浏览器。请重新打开页面。
console-form-foreign = 表单来自其他网站，未被读取。
console-form-bad = 无法读取表单。
console-look-at-fields = 未保存任何内容：请查看标出的字段。
console-not-a-number = 这不是整数。
console-not-json = 这不是 JSON：第 { $line } 行，第 { $column } 列。

console-ends = 此操作会结束某些内容，且无法撤销。
console-type-name = 要继续，请输入 { $name }
console-type-again = 要继续，请再次输入您在 { $names } 处填写的内容
console-name-wrong = 未执行：最后输入的不是 { $name }。
console-fresh-about = 此操作需要再次确认您的身份：最近十分钟内的通行密钥，或密码和验证码。
console-fresh-go = 确认身份
console-fresh-missing = 未执行：请先再次确认您的身份。

console-changed = 未保存：其他人已在此期间更改了此记录。
console-changed-about = 其更改已列出。表单现在包含这些更改以及您输入的内容。
console-changed-what = 期间的更改
console-member = 字段
console-before = 之前
console-now = 现在
console-yours = 您的

console-timeline = 时间线
console-timeline-about = 审计记录中关于此记录的最后几行。
console-latest = 最近的管理操作
console-audit-who = 人员或对象
console-audit-action = 操作
console-audit-outcome = 结果
console-audit-address = 地址
console-audit-id = 请求、会话或授权

console-attention = 需要注意
console-all-well = 没有。节点、密钥和审计记录均正常。
console-node-state = 节点 { $name } 的状态为 { $state }。
console-node-clock = 节点 { $name } 的时钟不准。
console-audit-stopped = 审计记录未在写入。
console-key-old = { $alg } 的密钥已旧。已签名天数：{ $days }
console-logouts-failed = 已放弃的登出通知：{ $count }

console-oldest-key = 最旧的签名密钥（天）
console-settings-set = 自定义的设置

console-keys-about = 每个密钥在签名前先发布，并一直发布到其签名的内容全部过期。
console-key-made = 自 { $time } 起发布。
console-key-signs-since = 自 { $time } 起签名。
console-key-signs-from = 将自 { $time } 起签名。
console-key-ends = 于 { $time } 移除。
console-key-age = 天数：{ $days }
console-key-published = 已发布
console-key-signing = 签名中

console-settings-about = 生效的值及其来源。进程的设置在其配置中更改，领域的设置在其记录中更改。
console-settings-first = 常规
console-source = 来源
console-source-default = 默认
console-source-configuration = 配置
console-source-record = 记录

console-token-about = 令牌是什么，是否有效。它在表单正文中发送，不会保存在任何地方。
console-token-paste = 访问令牌或刷新令牌
console-token-valid = 此令牌有效。
console-token-expired = 此令牌已过期。
console-token-revoked = 此令牌或其所依附的内容已被撤销。
console-token-consumed = 此刷新令牌已使用：已由另一个取代。
console-token-unknown = 现在无法判断此令牌是否有效。
console-token-foreign = 这不是此服务器的令牌。
console-the-person = 人员
console-the-client = 客户端

console-operations-about = 管理 API 能做的一切，每项操作都有表单。操作及其字段的用途以英文说明。
console-operation = 操作
console-right = 权限

console-first-title = 第一位管理员
console-first-about = 此服务器尚无账户。请选择名称和密码；然后添加通行密钥或显示验证码的应用。
console-first-password = 密码
console-first-rule = 至少字符数：{ $count }
console-first-make = 创建账户
console-first-ended = 此链接已使用、已过期或不完整。只要没有账户，服务器每次启动都会显示新的链接。
console-first-login = 管理
console-first-login-about = 此链接让此开发服务器的管理员登录一次。
console-no-passkey = 您没有通行密钥：它比验证码更快，也无法告诉任何人。
