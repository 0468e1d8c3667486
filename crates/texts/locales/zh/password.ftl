password-too-short = 新密码至少需要 8 个字符。
password-too-short-longer = 新密码过短。所需长度见输入框下方。
password-too-long = 新密码过长。
password-repeated = 新密码只是同一字符的重复。请另选一个。
password-common = 新密码有很多人使用，会最先被猜到。请另选一个。
password-name = 新密码由您的名称或地址组成，或包含它们。请另选一个。
password-server = 新密码包含此服务器的名称。请另选一个。
