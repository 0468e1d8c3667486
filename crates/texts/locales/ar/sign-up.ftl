# An account that a person makes, and an invitation to one.

login-sign-up = إنشاء حساب

sign-up-title = إنشاء حساب
sign-up-text = يُرسل رابط إلى بريدك الإلكتروني، ومنه تعيّن كلمة المرور.
sign-up-email = عنوان البريد الإلكتروني
sign-up-send = إرسال الرابط
sign-up-have = لدي حساب
sign-up-sent = رسالة في طريقها إلى هذا العنوان. يعمل رابطها مرة واحدة، { page-for-minutes }.
sign-up-address-wrong = هذا ليس عنوان بريد إلكتروني.
sign-up-domain = لا يمكن إنشاء حساب هنا بعناوين هذا النطاق.
sign-up-ended = انتهت صلاحية هذا الرابط أو استُخدم. اطلب رابطًا جديدًا أو سجّل الدخول.
sign-up-for = تسجّل الدخول باسم { $name }.
sign-up-invited-by = دعاك { $by }.
sign-up-invited-for = اختر كلمة مرورك. تسجّل الدخول باسم { $name }.
sign-up-name = اسمك (اختياري)
sign-up-name-wrong = هذا الاسم طويل جدًا أو فيه محارف لا تصلح لاسم.
sign-up-terms = أوافق على الشروط.
sign-up-terms-link = اقرأها
sign-up-terms-missing = للمتابعة، وافق على الشروط.
sign-up-submit = إنشاء الحساب
sign-up-done = الحساب جاهز. سجّل الدخول بكلمة المرور التي عيّنتها الآن.
sign-up-elsewhere = الحساب جاهز. عد إلى المتصفح الذي بدأت فيه وسجّل الدخول هناك، فهو يأخذك إلى التطبيق. أو سجّل الدخول هنا إلى حسابك.

error-no-sign-up = لا يمكن لأحد إنشاء حساب هنا. اطلب حسابًا ممن يدير هذا الخادم.
error-invitation = هذه الدعوة قُبلت أو سُحبت أو انتهت صلاحيتها. سجّل الدخول أو اطلب دعوة جديدة ممن دعاك.

mail-sign-up-subject = أنشئ حسابك في { $brand }
mail-sign-up-text = أنشئ حسابك في { $brand }:
mail-sign-up-button = إنشاء الحساب
mail-sign-up-known-subject = لديك حساب في { $brand }
mail-sign-up-known = أراد شخص إنشاء حساب لهذا العنوان في { $brand }. لهذا العنوان حساب بالفعل.
mail-sign-up-login = تسجيل الدخول
mail-sign-up-recover = إذا نسيت كلمة المرور: { $url }
mail-sign-up-ignore = إن لم تكن أنت من فعل ذلك، فتجاهل هذه الرسالة.
mail-invitation-subject = لقد دُعيت إلى { $brand }
mail-invitation-text = لقد دُعيت إلى { $brand }. اختر كلمة مرورك لتسجيل الدخول:
mail-invitation-by = دعاك { $by } إلى { $brand }. اختر كلمة مرورك لتسجيل الدخول:
mail-invitation-button = اختيار كلمة المرور
mail-invitation-until = يعمل الرابط مرة واحدة حتى { $time }.
