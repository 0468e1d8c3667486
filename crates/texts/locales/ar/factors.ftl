factors-step-who = أنت تسجّل الدخول باسم { $name }.
factors-step-remember = { $days ->
    [one] عدم السؤال مجددًا في هذا المتصفح لمدة يوم ({ $days })
    [two] عدم السؤال مجددًا في هذا المتصفح لمدة يومين ({ $days })
    [few] عدم السؤال مجددًا في هذا المتصفح لمدة { $days } أيام
   *[other] عدم السؤال مجددًا في هذا المتصفح لمدة { $days } يومًا
}
factors-step-other = استخدام حساب آخر
factors-totp-title = أدخل رمزًا من تطبيقك
factors-totp-label = رمز من ستة أرقام
factors-totp-button = استخدام رمز من تطبيقك
factors-totp-wrong = هذا ليس الرمز الذي يعرضه تطبيقك الآن. كل رمز يعمل مرة واحدة.
factors-recovery-title = أدخل رمز استعادة
factors-recovery-label = رمز الاستعادة
factors-recovery-about = كل رمز في قائمتك يعمل مرة واحدة. اشطبه بعد ذلك.
factors-recovery-button = استخدام رمز استعادة
factors-recovery-wrong = هذا ليس من رموز الاستعادة الخاصة بك، أو سبق استخدامه. كل رمز يعمل مرة واحدة.
factors-password-title = أدخل كلمة المرور
factors-password-about = خطوة أخرى: كلمة مرورك مطلوبة أيضًا.
factors-password-button = استخدام كلمة المرور
factors-choose-title = خطوة أخرى
factors-choose-about = يلزم إثبات آخر بأنك أنت.
factors-title = العامل الثاني
factors-none = لا يحمي هذا الحساب سوى كلمة مرورك أو بريدك. أضف خطوة ثانية باستخدام تطبيق رموز.
factors-app = تطبيق رموز
factors-passkey = مفتاح مرور
factors-browser = متصفح محفوظ
factors-since = أُضيف: { $since }
factors-used = آخر استخدام { $used }
factors-until = حتى { $until }
factors-remove = إزالة
factors-remove-one = إزالة { $name }، منذ { $since }
factors-remove-text = لن تستطيع تسجيل الدخول به بعد الآن.
factors-removed = تمت الإزالة.
factors-rename = إعادة التسمية
factors-rename-one = إعادة تسمية { $name }
factors-name = الاسم
factors-renamed = تم تغيير الاسم.
factors-browsers = المتصفحات المحفوظة
factors-browsers-about = لا يُطلب عامل ثانٍ في هذه المتصفحات.
factors-codes-none = ليست لديك رموز استعادة. تتيح لك الدخول عندما لا يكون عاملك الثاني في متناولك.
factors-codes-left = { $count ->
    [one] بقي لديك رمز استعادة واحد ({ $count }). الرموز الجديدة تحل محله.
    [two] بقي لديك رمزا استعادة ({ $count }). الرموز الجديدة تحل محلهما.
    [few] بقيت لديك { $count } رموز استعادة. الرموز الجديدة تحل محلها.
   *[other] بقي لديك { $count } رمز استعادة. الرموز الجديدة تحل محلها.
}
factors-codes-make = إنشاء رموز استعادة جديدة
factors-codes-title = رموز الاستعادة الخاصة بك
factors-codes-about = اطبع هذه الرموز أو دوّنها، واحفظها حيث تجدها من دون هذا الجهاز. كل رمز يعمل مرة واحدة. لن تُعرض مرة أخرى، ولم تعد الرموز السابقة صالحة.
factors-codes-copy = نسخ
factors-codes-copied = نُسخت.
factors-codes-print = طباعة
factors-codes-download = تنزيل
factors-codes-kept = لقد حفظتها
factors-add-button = إضافة تطبيق رموز
factors-add-title = إضافة تطبيق رموز
factors-add-required = يجب أن يكون لحسابك عامل ثانٍ. أعدّ واحدًا للمتابعة.
factors-add-about = امسح الصورة بتطبيق ينشئ الرموز. ثم اكتب الرمز الذي يعرضه.
factors-add-cannot = يتعذر المسح؟
factors-add-secret = المفتاح السري: { $secret }
factors-add-open = فتح في تطبيق على هذا الجهاز
factors-add-qr = المفتاح السري كرمز QR
factors-add-name = اسم التطبيق أو الجهاز (اختياري)
factors-add-submit = إضافة
factors-add-wrong = هذا ليس الرمز الذي يعرضه التطبيق الآن. تحقق من ساعة الجهاز وجرّب الرمز التالي.
factors-add-many = لدى الحساب العدد الأقصى من تطبيقات الرموز. أزل واحدًا أولًا.
factors-added = أُضيف تطبيق الرموز. من الآن فصاعدًا يطلب تسجيل الدخول رمزه.
factors-mail-account = الحساب: { $name }
factors-mail-advice = إذا كنت أنت، فلا حاجة إلى فعل شيء. وإلا فسجّل الدخول في { $url } وغيّر كلمة مرورك وأنهِ الجلسات التي لا تعرفها وأبلغ من يدير الخادم.
factors-mail-totp-added-subject = أُضيف تطبيق رموز إلى حسابك
factors-mail-totp-added = أُضيف تطبيق رموز كعامل ثانٍ لحسابك.
factors-mail-totp-removed-subject = أُزيل تطبيق رموز من حسابك
factors-mail-totp-removed = أُزيل تطبيق رموز من العوامل الثانية لحسابك.
factors-mail-passkey-added-subject = أُضيف مفتاح مرور إلى حسابك
factors-mail-passkey-added = أُضيف مفتاح مرور إلى حسابك.
factors-mail-passkey-removed-subject = أُزيل مفتاح مرور من حسابك
factors-mail-passkey-removed = أُزيل مفتاح مرور من حسابك.
factors-mail-codes-made-subject = رموز استعادة جديدة لحسابك
factors-mail-codes-made = أُنشئت رموز استعادة جديدة لحسابك. لم تعد القديمة صالحة.
factors-mail-codes-removed-subject = أُزيلت رموز الاستعادة من حسابك
factors-mail-codes-removed = أُزيلت رموز الاستعادة من حسابك.
factors-mail-code-used-subject = استُخدم رمز استعادة في حسابك
factors-mail-code-used = استُخدم رمز استعادة لتسجيل الدخول إلى حسابك.
factors-mail-password-changed-subject = تغيّرت كلمة مرور حسابك
factors-mail-password-changed = تغيّرت كلمة مرور حسابك.
factors-mail-password-removed-subject = أُزيلت كلمة مرور حسابك
factors-mail-password-removed = أُزيلت كلمة مرور حسابك.
factors-mail-provider-linked-subject = رُبط مزوّد هوية بحسابك
factors-mail-provider-linked = رُبط مزوّد هوية بحسابك: من يسجّل الدخول هناك يسجّل الدخول هنا.
factors-mail-provider-unlinked-subject = أُزيل ربط حسابك بمزوّد هوية
factors-mail-provider-unlinked = أُزيل ربط حسابك بمزوّد هوية.
factors-mail-address-changed-subject = غُيّر عنوان البريد الإلكتروني لحسابك
factors-mail-address-changed = غُيّر عنوان البريد الإلكتروني لحسابك. أُرسلت هذه الرسالة إلى العنوان السابق.
factors-mail-agent-bound-subject = رُبطت هوية وكيل بحسابك
factors-mail-agent-bound = رُبطت هوية وكيل بحسابك: يجوز للوكلاء الذين تفوّضهم أن يتصرفوا نيابةً عنك.
factors-mail-agent-unbound-subject = فُكّ ربط هوية وكيل عن حسابك
factors-mail-agent-unbound = فُكّ ربط هوية وكيل عن حسابك.
factors-mail-recovered-subject = عُيّنت كلمة مرور جديدة لحسابك
factors-mail-recovered = عُيّنت كلمة مرور جديدة لحسابك عبر رابط أُرسل بالبريد.
