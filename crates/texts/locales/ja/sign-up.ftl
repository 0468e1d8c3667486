# An account that a person makes, and an invitation to one.

login-sign-up = アカウントを作成

sign-up-title = アカウントを作成
sign-up-text = メールアドレスにリンクを送ります。リンク先でパスワードを設定します。
sign-up-email = メールアドレス
sign-up-send = リンクを送る
sign-up-have = アカウントを持っています
sign-up-sent = このアドレスにメールを送りました。リンクは一度だけ使えます（{ page-for-minutes }）。
sign-up-address-wrong = これはメールアドレスではありません。
sign-up-domain = このドメインのアドレスでは、ここでアカウントを作成できません。
sign-up-ended = このリンクは期限切れか使用済みです。新しいリンクを請求するか、ログインしてください。
sign-up-for = { $name } でログインします。
sign-up-invited-by = { $by } さんからの招待です。
sign-up-invited-for = パスワードを決めてください。{ $name } でログインします。
sign-up-name = お名前（任意）
sign-up-name-wrong = この名前は長すぎるか、名前に使えない文字が含まれています。
sign-up-terms = 利用規約に同意します。
sign-up-terms-link = 読む
sign-up-terms-missing = 続けるには利用規約に同意してください。
sign-up-submit = アカウントを作成
sign-up-done = アカウントの準備ができました。いま設定したパスワードでログインしてください。
sign-up-elsewhere = アカウントの準備ができました。最初に使ったブラウザーに戻ってログインすると、アプリケーションに進みます。ここで自分のアカウントにログインすることもできます。

error-no-sign-up = ここではアカウントを作成できません。このサーバーの運営者に依頼してください。
error-invitation = この招待は承諾済みか、取り消されたか、期限切れです。ログインするか、招待した人に新しい招待を依頼してください。

mail-sign-up-subject = { $brand } のアカウントを作成
mail-sign-up-text = { $brand } のアカウントを作成：
mail-sign-up-button = アカウントを作成
mail-sign-up-known-subject = { $brand } のアカウントがあります
mail-sign-up-known = このアドレスで { $brand } のアカウントを作成しようとした人がいます。すでにアカウントがあります。
mail-sign-up-login = ログイン
mail-sign-up-recover = パスワードを忘れた場合：{ $url }
mail-sign-up-ignore = 心当たりがなければ、このメールは無視してください。
mail-invitation-subject = { $brand } への招待
mail-invitation-text = { $brand } に招待されました。ログインするためのパスワードを決めてください：
mail-invitation-by = { $by } さんが { $brand } に招待しています。ログインするためのパスワードを決めてください：
mail-invitation-button = パスワードを決める
mail-invitation-until = リンクは { $time } まで、一度だけ使えます。
