# An account that is to be erased.

account-delete = حذف حسابي
account-delete-text = تنتهي الجلسات والتطبيقات والرموز فورًا. إلى أن يُمحى الحساب نهائيًا يمكنك الاحتفاظ به برابط يُرسل إلى بريدك. الأيام حتى ذلك: { $days }.
account-delete-sure = أريد محو حسابي.
account-delete-confirm = لحذف حسابك، ضع علامة في المربع.

deletion-title = سيُمحى حسابك
deletion-when = يُمحى في:
deletion-mailed = حتى ذلك الوقت يمكنك الاحتفاظ به: رسالة فيها رابط في طريقها إليك.
deletion-ask = حتى ذلك الوقت يمكن لمن يدير هذا الخادم أن يحتفظ به لك.
deletion-keep-title = هل تريد الاحتفاظ بحسابك؟
deletion-keep = الاحتفاظ بالحساب
deletion-kept = الحساب باقٍ. سجّل الدخول.

error-keep-account = لم يعد هذا الرابط يعمل: احتُفظ بالحساب من قبل أو مُحي.

mail-deletion-subject = سيُمحى حسابك في { $brand }
mail-deletion-text = سيُمحى حسابك في { $time }. حتى ذلك الوقت لا يمكن لأحد تسجيل الدخول إليه.
mail-deletion-keep = للاحتفاظ به، افتح هذا الرابط وأكّد:
mail-erased-subject = مُحي حسابك في { $brand }
mail-erased-text = مُحي حسابك مع كل ما كان محفوظًا عنه.
