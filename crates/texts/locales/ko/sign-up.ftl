# An account that a person makes, and an invitation to one.

login-sign-up = 계정 만들기

sign-up-title = 계정 만들기
sign-up-text = 이메일 주소로 링크를 보냅니다. 링크에서 비밀번호를 설정합니다.
sign-up-email = 이메일 주소
sign-up-send = 링크 보내기
sign-up-have = 계정이 있습니다
sign-up-sent = 이 주소로 메일을 보냈습니다. 링크는 한 번만 쓸 수 있습니다({ page-for-minutes }).
sign-up-address-wrong = 이메일 주소가 아닙니다.
sign-up-domain = 이 도메인의 주소로는 여기서 계정을 만들 수 없습니다.
sign-up-ended = 이 링크는 만료되었거나 이미 사용되었습니다. 새 링크를 요청하거나 로그인하세요.
sign-up-for = { $name }(으)로 로그인합니다.
sign-up-invited-by = { $by } 님이 초대했습니다.
sign-up-invited-for = 비밀번호를 정하세요. { $name }(으)로 로그인합니다.
sign-up-name = 이름(선택 사항)
sign-up-name-wrong = 이 이름은 너무 길거나 이름에 쓸 수 없는 문자가 있습니다.
sign-up-terms = 약관에 동의합니다.
sign-up-terms-link = 읽기
sign-up-terms-missing = 계속하려면 약관에 동의하세요.
sign-up-submit = 계정 만들기
sign-up-done = 계정이 준비되었습니다. 방금 설정한 비밀번호로 로그인하세요.
sign-up-elsewhere = 계정이 준비되었습니다. 시작한 브라우저로 돌아가 로그인하면 애플리케이션으로 이어집니다. 또는 여기서 계정에 로그인하세요.

error-no-sign-up = 여기서는 계정을 만들 수 없습니다. 이 서버를 운영하는 사람에게 요청하세요.
error-invitation = 이 초대는 수락되었거나 취소되었거나 만료되었습니다. 로그인하거나 초대한 사람에게 새 초대를 요청하세요.

mail-sign-up-subject = { $brand } 계정을 만드세요
mail-sign-up-text = { $brand }에서 계정을 만드세요:
mail-sign-up-button = 계정 만들기
mail-sign-up-known-subject = { $brand }에 계정이 있습니다
mail-sign-up-known = 누군가 { $brand }에서 이 주소로 계정을 만들려고 했습니다. 이미 계정이 있습니다.
mail-sign-up-login = 로그인
mail-sign-up-recover = 비밀번호를 잊었다면: { $url }
mail-sign-up-ignore = 본인이 아니라면 이 메시지를 무시하세요.
mail-invitation-subject = { $brand }에 초대되었습니다
mail-invitation-text = { $brand }에 초대되었습니다. 로그인에 쓸 비밀번호를 정하세요:
mail-invitation-by = { $by } 님이 { $brand }에 초대했습니다. 로그인에 쓸 비밀번호를 정하세요:
mail-invitation-button = 비밀번호 정하기
mail-invitation-until = 링크는 { $time }까지 한 번만 쓸 수 있습니다.
