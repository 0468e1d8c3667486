password-too-short = 새 비밀번호는 8자 이상이어야 합니다.
password-too-short-longer = 새 비밀번호가 너무 짧습니다. 필요한 길이는 입력란 아래에 있습니다.
password-too-long = 새 비밀번호가 너무 깁니다.
password-repeated = 새 비밀번호가 한 문자의 반복입니다. 다른 것을 선택하십시오.
password-common = 새 비밀번호는 많은 사람이 사용하여 가장 먼저 추측되는 것입니다. 다른 것을 선택하십시오.
password-name = 새 비밀번호가 이름이나 주소로 되어 있거나 이를 포함합니다. 다른 것을 선택하십시오.
password-server = 새 비밀번호에 이 서버의 이름이 들어 있습니다. 다른 것을 선택하십시오.
