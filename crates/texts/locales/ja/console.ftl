# The console, where people administer.

console-title = コンソール
console-menu = メニュー
console-skip = ページへ移動
console-way = このページの場所
console-realm = レルム
console-find = 名前またはアドレスで人を探す
console-account = アカウント
console-leave = ログアウト
console-session-about = コンソールは 30 分使わないとき、また 8 時間後に閉じます。
console-overview = 概要
console-people = 人
console-applications = アプリケーション
console-live = 使用中
console-server = インストール
console-explain = アクセスを説明
console-token = トークンを調べる
console-audit = 監査ログ
console-settings = 設定
console-drift = 計画と差異
console-operations = すべての操作

console-kind-users = 人
console-kind-groups = グループ
console-kind-roles = ロール
console-kind-attributes = 属性
console-kind-rules = アクセス規則
console-kind-clients = クライアント
console-kind-resources = リソースサーバー
console-kind-scopes = スコープ
console-kind-providers = ID プロバイダー
console-kind-realms = レルム
console-kind-keys = 署名鍵
console-kind-sessions = セッション
console-kind-grants = 許可
console-kind-consents = 同意
console-kind-credentials = 要素
console-kind-agents = エージェント
console-kind-nodes = ノード

console-yes = はい
console-no = いいえ
console-none = 何もありません。
console-add = 追加
console-change = 変更
console-remove = 削除
console-save = 保存
console-show = 表示
console-end = 終了する
console-go-on = 続ける
console-search = 検索
console-filter = 絞り込む
console-any = すべて
console-all = すべて表示
console-pages = ページ
console-first-page = 最初のページ
console-next-page = 次のページ
console-older = 以前
console-acts = できること
console-record = レコード
console-result = 結果
console-as-table = 表で見る
console-default = 既定：
console-required = 必須
console-unset = 既定どおり
console-one-a-line = 1 行に 1 つ。
console-as-json = JSON。
console-more-fields = その他の項目：{ $count }
console-recorded = これは監査ログに記録されます。
console-done = 完了し、監査ログに記録しました。
console-once = ここにある秘密を今保管してください。再び表示されることはありません。

console-refused = 実行されませんでした。
console-not-allowed = { $name } としてログインしています。このアカウントはここを管理できません。
console-form-old = フォームの期限が切れたか、このブラウザーのものではありません。ページを開き直してください。
console-form-foreign = フォームは別のサイトから来たため、読み取りませんでした。
console-form-bad = フォームを読み取れませんでした。
console-look-at-fields = 何も保存していません。印の付いた項目を確認してください。
console-not-a-number = 整数ではありません。
console-not-json = JSON ではありません：{ $line } 行 { $column } 列。

console-ends = これは何かを終了させ、取り消せません。
console-type-name = 続けるには { $name } と入力してください
console-type-again = 続けるには、{ $names } に入力した内容をもう一度入力してください
console-name-wrong = 何も実行していません。最後に入力されたものは { $name } ではありません。
console-fresh-about = 本人であることをもう一度確認します。直近 10 分のパスキー、またはパスワードとコードです。
console-fresh-go = 本人であることを示す
console-fresh-missing = 何も実行していません。先にもう一度、本人であることを示してください。

console-changed = 何も保存していません。その間に他の人がこのレコードを変更しました。
console-changed-about = その変更を示します。フォームには今、その変更と入力した内容があります。
console-changed-what = その間の変更
console-member = 項目
console-before = 以前
console-now = 現在
console-yours = あなたの入力

console-timeline = タイムライン
console-timeline-about = このレコードに関する監査ログの最後の行。
console-latest = 最近の管理操作
console-audit-who = 誰または何
console-audit-action = 操作
console-audit-outcome = 結果
console-audit-address = アドレス
console-audit-id = リクエスト、セッション、許可

console-attention = 要確認
console-all-well = ありません。ノード、鍵、監査ログは正常です。
console-node-state = ノード { $name } は { $state } です。
console-node-clock = ノード { $name } の時計がずれています。
console-audit-stopped = 監査ログが書き込まれていません。
console-key-old = { $alg } の鍵が古くなっています。署名した日数：{ $days }
console-logouts-failed = 断念したログアウト通知：{ $count }

console-oldest-key = 最も古い署名鍵（日）
console-settings-set = 独自の設定

console-keys-about = 各鍵は署名の前に公開され、署名したものの期限が切れるまで公開されます。
console-key-made = { $time } から公開。
console-key-signs-since = { $time } から署名。
console-key-signs-from = { $time } から署名します。
console-key-ends = { $time } に削除。
console-key-age = 日数：{ $days }
console-key-published = 公開
console-key-signing = 署名

console-settings-about = 有効な値と、その出どころ。プロセスの設定は構成で、レルムの設定はそのレコードで変更します。
console-settings-first = 一般
console-source = 出どころ
console-source-default = 既定
console-source-configuration = 構成
console-source-record = レコード

console-token-about = トークンが何で、有効かどうか。フォームの本文で送られ、どこにも保存されません。
console-token-paste = アクセストークンまたはリフレッシュトークン
console-token-valid = このトークンは有効です。
console-token-expired = このトークンは期限切れです。
console-token-revoked = このトークン、またはその元が取り消されました。
console-token-consumed = このリフレッシュトークンは使用済みで、別のものに置き換わりました。
console-token-unknown = このトークンが有効かどうか、今は言えません。
console-token-foreign = このサーバーのトークンではありません。
console-the-person = その人
console-the-client = そのクライアント

console-operations-about = 管理 API でできることすべてに、それぞれのフォームがあります。操作と項目の説明は英語です。
console-operation = 操作
console-right = 権限

console-first-title = 最初の管理者
console-first-about = このサーバーにはまだアカウントがありません。名前とパスワードを決め、その後パスキーかコードを表示するアプリを追加します。
console-first-password = パスワード
console-first-rule = 最低文字数：{ $count }
console-first-make = アカウントを作る
console-first-ended = このリンクは使用済みか、期限切れか、不完全です。アカウントがない間は、サーバーの起動ごとに新しいものが表示されます。
console-first-login = 管理する
console-first-login-about = このリンクで、この開発サーバーの管理者が一度だけログインします。
console-no-passkey = パスキーがありません。コードより速く、誰にも教えようがありません。
