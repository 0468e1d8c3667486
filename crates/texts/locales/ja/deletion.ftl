# An account that is to be erased.

account-delete = アカウントを削除
account-delete-act = 削除
account-delete-ask = アカウント { $name } を削除しますか？
account-delete-text = セッション、アプリケーション、トークンはただちに終了します。アカウントは{ $days }日後に完全に消去されます。それまでは、メールで届くリンクからアカウントを残せます。
account-delete-sure = アカウントの消去を希望します。
account-delete-confirm = アカウントを削除するには、チェックを入れてください。

deletion-title = アカウントは消去されます
deletion-when = 消去の日時：
deletion-mailed = それまでは残すことができます。リンクのあるメールを送りました。
deletion-ask = それまでは、このサーバーの運営者が残すことができます。
deletion-keep-title = アカウントを残しますか？
deletion-keep = アカウントを残す
deletion-kept = アカウントは残ります。ログインしてください。

error-keep-account = このリンクは使えません。アカウントはすでに残されたか、消去されています。

mail-deletion-subject = { $brand } のアカウントは消去されます
mail-deletion-text = アカウントは { $time } に消去されます。それまで誰もログインできません。
mail-deletion-keep = 残すには、このリンクを開いて確認してください：
mail-erased-subject = { $brand } のアカウントは消去されました
mail-erased-text = アカウントと、保存されていた内容はすべて消去されました。
