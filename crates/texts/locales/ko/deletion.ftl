# An account that is to be erased.

account-delete = 내 계정 삭제
account-delete-act = 삭제
account-delete-ask = { $name } 계정을 삭제할까요?
account-delete-text = 세션, 애플리케이션, 토큰이 즉시 종료됩니다. 계정은 { $days }일 후 완전히 지워지며, 그전까지는 메일로 받은 링크로 계정을 유지할 수 있습니다.
account-delete-sure = 내 계정이 지워지기를 원합니다.
account-delete-confirm = 계정을 삭제하려면 상자를 선택하세요.

deletion-title = 계정이 지워집니다
deletion-when = 지워지는 시각:
deletion-mailed = 그때까지 유지할 수 있습니다. 링크가 있는 메일을 보냈습니다.
deletion-ask = 그때까지 이 서버를 운영하는 사람이 유지해 줄 수 있습니다.
deletion-keep-title = 계정을 유지할까요?
deletion-keep = 계정 유지
deletion-kept = 계정이 유지됩니다. 로그인하세요.

error-keep-account = 이 링크는 더 이상 쓸 수 없습니다. 계정이 이미 유지되었거나 지워졌습니다.

mail-deletion-subject = { $brand } 계정이 지워집니다
mail-deletion-text = 계정이 { $time }에 지워집니다. 그때까지 아무도 로그인할 수 없습니다.
mail-deletion-keep = 유지하려면 이 링크를 열고 확인하세요:
mail-erased-subject = { $brand } 계정이 지워졌습니다
mail-erased-text = 계정과 보관되던 모든 내용이 지워졌습니다.
