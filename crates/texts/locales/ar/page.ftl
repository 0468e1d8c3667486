page-address-hint = أنت في { $host }. تأكد من أن شريط العنوان يعرض ذلك قبل كتابة كلمة المرور.
page-or = أو
page-continue = متابعة
page-cancel = إلغاء
page-allow = سماح
page-deny = رفض
page-language = اللغة
page-language-change = تغيير
page-privacy = الخصوصية
page-terms = الشروط
page-help = المساعدة
page-for-minutes = { $minutes ->
    [one] لمدة دقيقة ({ $minutes })
    [two] لمدة دقيقتين ({ $minutes })
    [few] لمدة { $minutes } دقائق
   *[other] لمدة { $minutes } دقيقة
}
page-close = يمكنك إغلاق هذه الصفحة.
page-not-set = غير محدد
page-yes = نعم
page-no = لا
page-logged-in-as = أنت مسجّل الدخول باسم { $name }.
page-to-account = الانتقال إلى حسابك
page-device-app-scheme = تطبيق على هذا الجهاز ({ $scheme })
page-missing-title = الصفحة غير موجودة
page-missing-heading = لا توجد صفحة كهذه
page-missing-text = ربما كُتب العنوان خطأً أو نُقلت الصفحة.
