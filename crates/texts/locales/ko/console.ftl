# The console, where people administer.

console-title = 콘솔
console-menu = 메뉴
console-skip = 페이지로 이동
console-way = 이 페이지의 위치
console-realm = 영역
console-find = 이름이나 주소로 사람 찾기
console-account = 내 계정
console-leave = 로그아웃
console-session-about = 콘솔은 30분 동안 사용하지 않거나 8시간이 지나면 닫힙니다.
console-overview = 개요
console-people = 사람
console-applications = 애플리케이션
console-live = 사용 중
console-server = 설치
console-explain = 접근 설명
console-token = 토큰 살펴보기
console-audit = 감사 기록
console-settings = 설정
console-drift = 계획과 차이
console-operations = 모든 작업

console-kind-users = 사람
console-kind-groups = 그룹
console-kind-roles = 역할
console-kind-attributes = 속성
console-kind-rules = 접근 규칙
console-kind-clients = 클라이언트
console-kind-resources = 리소스 서버
console-kind-scopes = 범위
console-kind-providers = ID 공급자
console-kind-realms = 영역
console-kind-keys = 서명 키
console-kind-sessions = 세션
console-kind-grants = 권한 부여
console-kind-consents = 동의
console-kind-credentials = 요소
console-kind-agents = 에이전트
console-kind-nodes = 노드

console-yes = 예
console-no = 아니요
console-none = 아무것도 없습니다.
console-add = 추가
console-change = 변경
console-remove = 제거
console-save = 저장
console-show = 표시
console-end = 종료
console-go-on = 계속
console-search = 검색
console-filter = 필터
console-any = 모두
console-all = 모두 표시
console-pages = 페이지
console-first-page = 첫 페이지
console-next-page = 다음 페이지
console-older = 이전 기록
console-acts = 할 수 있는 일
console-record = 레코드
console-result = 결과
console-as-table = 표로 보기
console-default = 기본값:
console-required = 필수
console-unset = 기본값대로
console-one-a-line = 한 줄에 하나씩.
console-as-json = JSON.
console-more-fields = 추가 항목: { $count }
console-recorded = 이 작업은 감사 기록에 남습니다.
console-done = 완료되었으며 감사 기록에 남았습니다.
console-once = 여기 있는 비밀을 지금 보관하십시오. 다시 표시되지 않습니다.

console-refused = 실행되지 않았습니다.
console-not-allowed = { $name }(으)로 로그인했습니다. 이 계정은 여기서 관리할 수 없습니다.
console-form-old = 양식이 만료되었거나 이 브라우저의 것이 아닙니다. 페이지를 다시 여십시오.
console-form-foreign = 양식이 다른 사이트에서 왔으므로 읽지 않았습니다.
console-form-bad = 양식을 읽을 수 없습니다.
console-look-at-fields = 저장되지 않았습니다. 표시된 항목을 확인하십시오.
console-not-a-number = 정수가 아닙니다.
console-not-json = JSON이 아닙니다: { $line }행 { $column }열.

console-ends = 이 작업은 무언가를 종료하며 되돌릴 수 없습니다.
console-type-name = 계속하려면 { $name }을(를) 입력하십시오
console-type-again = 계속하려면 { $names }에 쓴 내용을 다시 입력하십시오
console-name-wrong = 실행되지 않았습니다. 마지막에 입력한 것은 { $name }이(가) 아닙니다.
console-fresh-about = 본인인지 다시 확인합니다. 최근 10분 안의 패스키, 또는 비밀번호와 코드입니다.
console-fresh-go = 본인 확인
console-fresh-missing = 실행되지 않았습니다. 먼저 본인임을 다시 확인하십시오.

console-changed = 저장되지 않았습니다. 그사이 다른 사람이 이 레코드를 변경했습니다.
console-changed-about = 변경 내용이 아래에 있습니다. 양식에는 이제 그 내용과 입력한 내용이 있습니다.
console-changed-what = 그사이 변경된 내용
console-member = 항목
console-before = 이전
console-now = 현재
console-yours = 내 입력

console-timeline = 타임라인
console-timeline-about = 이 레코드에 대한 감사 기록의 마지막 줄입니다.
console-latest = 최근 관리 작업
console-audit-who = 누구 또는 무엇
console-audit-action = 작업
console-audit-outcome = 결과
console-audit-address = 주소
console-audit-id = 요청, 세션 또는 권한 부여

console-attention = 주의 필요
console-all-well = 없습니다. 노드, 키, 감사 기록이 정상입니다.
console-node-state = 노드 { $name }: { $state }.
console-node-clock = 노드 { $name }의 시계가 맞지 않습니다.
console-audit-stopped = 감사 기록이 쓰이지 않고 있습니다.
console-key-old = { $alg } 키가 오래되었습니다. 서명한 일수: { $days }
console-logouts-failed = 포기한 로그아웃 알림: { $count }

console-oldest-key = 가장 오래된 서명 키, 일
console-settings-set = 직접 정한 설정

console-keys-about = 각 키는 서명하기 전에 게시되고, 서명한 것이 만료될 때까지 게시됩니다.
console-key-made = { $time }부터 게시됨.
console-key-signs-since = { $time }부터 서명함.
console-key-signs-from = { $time }부터 서명할 예정.
console-key-ends = { $time }에 제거됨.
console-key-age = 일수: { $days }
console-key-published = 게시됨
console-key-signing = 서명함

console-settings-about = 적용되는 값과 그 출처. 프로세스의 설정은 구성에서, 영역의 설정은 그 레코드에서 변경합니다.
console-settings-first = 일반
console-source = 출처
console-source-default = 기본값
console-source-configuration = 구성
console-source-record = 레코드

console-token-about = 토큰이 무엇이고 유효한지. 양식 본문으로 보내며 어디에도 보관하지 않습니다.
console-token-paste = 액세스 토큰 또는 새로 고침 토큰
console-token-valid = 이 토큰은 유효합니다.
console-token-expired = 이 토큰은 만료되었습니다.
console-token-revoked = 이 토큰 또는 그 근거가 취소되었습니다.
console-token-consumed = 이 새로 고침 토큰은 사용되어 다른 것으로 바뀌었습니다.
console-token-unknown = 지금은 이 토큰이 유효한지 말할 수 없습니다.
console-token-foreign = 이 서버의 토큰이 아닙니다.
console-the-person = 그 사람
console-the-client = 그 클라이언트

console-operations-about = 관리 API가 할 수 있는 모든 것이며, 작업마다 양식이 있습니다. 작업과 항목의 설명은 영어입니다.
console-operation = 작업
console-right = 권한

console-first-title = 첫 번째 관리자
console-first-about = 이 서버에는 아직 계정이 없습니다. 이름과 비밀번호를 정한 다음, 패스키나 코드를 보여 주는 앱을 추가합니다.
console-first-password = 비밀번호
console-first-rule = 최소 글자 수: { $count }
console-first-make = 계정 만들기
console-first-ended = 이 링크는 사용되었거나 만료되었거나 온전하지 않습니다. 계정이 없는 동안 서버를 시작할 때마다 새 링크가 표시됩니다.
console-first-login = 관리하기
console-first-login-about = 이 링크는 이 개발 서버의 관리자를 한 번 로그인시킵니다.
console-no-passkey = 패스키가 없습니다. 코드보다 빠르고 누구에게도 알려 줄 수 없습니다.
