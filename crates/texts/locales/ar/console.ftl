# The console, where people administer.

console-title = وحدة التحكم
console-menu = القائمة
console-skip = الانتقال إلى الصفحة
console-way = موضع هذه الصفحة
console-realm = النطاق
console-find = البحث عن شخص بالاسم أو العنوان
console-account = حسابك
console-leave = تسجيل الخروج
console-session-about = تُغلق وحدة التحكم بعد 30 دقيقة دون استخدام، وبعد 8 ساعات.
console-overview = نظرة عامة
console-people = الأشخاص
console-applications = التطبيقات
console-live = قيد الاستخدام الآن
console-server = التثبيت
console-explain = شرح الوصول
console-token = فحص رمز
console-audit = سجل التدقيق
console-settings = الإعدادات
console-drift = الخطة والانحراف
console-operations = كل العمليات

console-kind-users = الأشخاص
console-kind-groups = المجموعات
console-kind-roles = الأدوار
console-kind-attributes = السمات
console-kind-rules = قواعد الوصول
console-kind-clients = العملاء
console-kind-resources = خوادم الموارد
console-kind-scopes = النطاقات المطلوبة
console-kind-providers = موفّرو الهوية
console-kind-realms = النطاقات
console-kind-keys = مفاتيح التوقيع
console-kind-sessions = الجلسات
console-kind-grants = التصاريح
console-kind-consents = الموافقات
console-kind-credentials = العوامل
console-kind-agents = الوكلاء
console-kind-nodes = العُقد

console-yes = نعم
console-no = لا
console-none = لا شيء هنا.
console-add = إضافة
console-change = تغيير
console-remove = إزالة
console-save = حفظ
console-show = عرض
console-end = إنهاء
console-go-on = متابعة
console-search = بحث
console-filter = تصفية
console-any = أي
console-all = عرض الكل
console-pages = الصفحات
console-first-page = الصفحة الأولى
console-next-page = الصفحة التالية
console-older = أقدم
console-acts = ما يمكن فعله
console-record = السجل
console-result = النتيجة
console-as-table = كجدول
console-default = الافتراضي:
console-required = مطلوب
console-unset = كالافتراضي
console-one-a-line = واحد في كل سطر.
console-as-json = JSON.
console-more-fields = حقول أخرى: { $count }
console-recorded = يُسجَّل هذا في سجل التدقيق.
console-done = تم، وسُجِّل في سجل التدقيق.
console-once = احتفظ الآن بما هو سري هنا: لن يُعرض مرة أخرى.

console-refused = لم يُنفَّذ هذا.
console-not-allowed = سجّلت الدخول باسم { $name }. لا يحق لهذا الحساب الإدارة هنا.
console-form-old = انتهت صلاحية النموذج أو أنه ليس من هذا المتصفح. افتح الصفحة مجددًا.
console-form-foreign = جاء النموذج من موقع آخر ولم يُقرأ.
console-form-bad = تعذّرت قراءة النموذج.
console-look-at-fields = لم يُحفظ شيء: انظر إلى الحقول المعلَّمة.
console-not-a-number = هذا ليس عددًا صحيحًا.
console-not-json = هذا ليس JSON: السطر { $line }، العمود { $column }.

console-ends = هذا ينهي شيئًا ولا يمكن التراجع عنه.
console-type-name = للمتابعة، اكتب { $name }
console-type-again = للمتابعة، اكتب مجددًا ما كتبته في { $names }
console-name-wrong = لم يُنفَّذ شيء: ما كُتب في النهاية ليس { $name }.
console-fresh-about = يُسأل هنا مرة أخرى من أنت: مفتاح مرور، أو كلمة مرور ورمز، خلال آخر عشر دقائق.
console-fresh-go = أظهر من أنت
console-fresh-missing = لم يُنفَّذ شيء: أظهر أولًا من أنت مرة أخرى.

console-changed = لم يُحفظ شيء: غيّر شخص آخر هذا السجل في هذه الأثناء.
console-changed-about = تغييراته مذكورة. يحتوي النموذج عليها الآن وعلى ما كتبته.
console-changed-what = ما تغيّر في هذه الأثناء
console-member = الحقل
console-before = قبل
console-now = الآن
console-yours = ما لديك

console-timeline = الخط الزمني
console-timeline-about = آخر أسطر سجل التدقيق عن هذا السجل.
console-latest = آخر أعمال الإدارة
console-audit-who = من أو ماذا
console-audit-action = الفعل
console-audit-outcome = النتيجة
console-audit-address = العنوان
console-audit-id = طلب أو جلسة أو تصريح

console-attention = يحتاج إلى انتباه
console-all-well = لا شيء. العُقد والمفاتيح وسجل التدقيق كما ينبغي.
console-node-state = العقدة { $name }: { $state }.
console-node-clock = ساعة العقدة { $name } غير صحيحة.
console-audit-stopped = سجل التدقيق لا يُكتب.
console-key-old = مفتاح { $alg } قديم. أيام توقيعه: { $days }
console-logouts-failed = إشعارات خروج تُخلّي عنها: { $count }

console-oldest-key = أقدم مفتاح توقيع، بالأيام
console-settings-set = إعداداتك الخاصة

console-keys-about = يُنشر كل مفتاح قبل أن يوقّع، ويبقى منشورًا حتى تنتهي صلاحية ما وقّعه.
console-key-made = منشور منذ { $time }.
console-key-signs-since = يوقّع منذ { $time }.
console-key-signs-from = يوقّع ابتداءً من { $time }.
console-key-ends = يُزال في { $time }.
console-key-age = العمر بالأيام: { $days }
console-key-published = منشور
console-key-signing = يوقّع

console-settings-about = القيمة السارية ومصدرها. تُغيَّر إعدادات العملية في تهيئتها، وإعدادات النطاق في سجله.
console-settings-first = عام
console-source = المصدر
console-source-default = افتراضي
console-source-configuration = تهيئة
console-source-record = سجل

console-token-about = ما هو الرمز، وهل هو سارٍ. يُرسل في متن النموذج ولا يُحفظ في أي مكان.
console-token-paste = رمز وصول أو رمز تحديث
console-token-valid = هذا الرمز سارٍ.
console-token-expired = انتهت صلاحية هذا الرمز.
console-token-revoked = أُلغي هذا الرمز أو ما يعتمد عليه.
console-token-consumed = استُخدم رمز التحديث هذا: حلّ آخر محله.
console-token-unknown = لا يمكن القول الآن هل هذا الرمز سارٍ.
console-token-foreign = هذا ليس رمزًا لهذا الخادم.
console-the-person = الشخص
console-the-client = العميل

console-operations-about = كل ما تستطيعه واجهة الإدارة، لكل عملية نموذجها. يُشرح الغرض من العمليات وحقولها بالإنجليزية.
console-operation = العملية
console-right = الحق

console-first-title = المسؤول الأول
console-first-about = لا حساب على هذا الخادم بعد. اختر اسمًا وكلمة مرور؛ ثم تضيف مفتاح مرور أو تطبيقًا يعرض رموزًا.
console-first-password = كلمة المرور
console-first-rule = عدد الأحرف على الأقل: { $count }
console-first-make = إنشاء الحساب
console-first-ended = استُخدم هذا الرابط أو انتهت صلاحيته أو أنه غير كامل. يعرض تشغيل الخادم رابطًا آخر ما دام لا يوجد حساب.
console-first-login = الإدارة
console-first-login-about = يسجّل هذا الرابط دخول مسؤول خادم التطوير هذا، مرة واحدة.
console-no-passkey = ليس لديك مفتاح مرور: إنه أسرع من الرمز ولا يمكن إخبار أحد به.
