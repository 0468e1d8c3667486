page-address-hint = 현재 위치는 { $host }입니다. 비밀번호를 입력하기 전에 주소 표시줄과 같은지 확인하십시오.
page-or = 또는
page-continue = 계속
page-cancel = 취소
page-allow = 허용
page-deny = 거부
page-language = 언어
page-language-change = 변경
page-privacy = 개인정보
page-terms = 약관
page-help = 도움말
page-for-minutes = { $minutes ->
   *[other] { $minutes }분 동안
}
page-close = 이 페이지를 닫아도 됩니다.
page-not-set = 설정되지 않음
page-yes = 예
page-no = 아니요
page-logged-in-as = { $name }(으)로 로그인되어 있습니다.
page-to-account = 내 계정으로 이동
page-device-app-scheme = 이 기기의 앱({ $scheme })
page-missing-title = 페이지를 찾을 수 없음
page-missing-heading = 없는 페이지입니다
page-missing-text = 주소가 잘못되었거나 페이지가 이동했을 수 있습니다.
