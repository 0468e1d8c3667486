# An account that is to be erased.

account-delete = Hesabımı sil
account-delete-act = Sil
account-delete-ask = { $name } hesabı silinsin mi?
account-delete-text = Oturumlar, uygulamalar ve belirteçler hemen sona erer. Hesap { $days } gün sonra kalıcı olarak silinir; o zamana kadar, size e-postayla gönderilen bağlantıyla onu koruyabilirsiniz.
account-delete-sure = Hesabımın silinmesini istiyorum.
account-delete-confirm = Hesabınızı silmek için kutuyu işaretleyin.

deletion-title = Hesabınız silinecek
deletion-when = Silineceği zaman:
deletion-mailed = O zamana kadar koruyabilirsiniz: bağlantılı bir e-posta size geliyor.
deletion-ask = O zamana kadar bu sunucuyu işleten kişi sizin için koruyabilir.
deletion-keep-title = Hesabınızı korumak ister misiniz?
deletion-keep = Hesabı koru
deletion-kept = Hesap kalıyor. Oturum açın.

error-keep-account = Bu bağlantı artık çalışmıyor: hesap zaten korundu veya silindi.

mail-deletion-subject = { $brand } hesabınız silinecek
mail-deletion-text = Hesabınız { $time } tarihinde silinecek. O zamana kadar kimse oturum açamaz.
mail-deletion-keep = Korumak için bu bağlantıyı açıp onaylayın:
mail-erased-subject = { $brand } hesabınız silindi
mail-erased-text = Hesabınız, hakkında saklanan her şeyle birlikte silindi.
