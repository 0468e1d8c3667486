page-address-hint = ここは { $host } です。パスワードを入力する前に、アドレスバーの表示と同じか確認してください。
page-or = または
page-continue = 続ける
page-cancel = キャンセル
page-allow = 許可
page-deny = 拒否
page-language = 言語
page-language-change = 変更
page-privacy = プライバシー
page-terms = 利用規約
page-help = ヘルプ
page-for-minutes = { $minutes ->
   *[other] { $minutes } 分間
}
page-close = このページは閉じてかまいません。
page-not-set = 未設定
page-yes = はい
page-no = いいえ
page-logged-in-as = { $name } としてログインしています。
page-to-account = アカウントへ移動
page-device-app-scheme = このデバイスのアプリ（{ $scheme }）
page-missing-title = ページが見つかりません
page-missing-heading = このページはありません
page-missing-text = アドレスが間違っているか、ページが移動した可能性があります。
