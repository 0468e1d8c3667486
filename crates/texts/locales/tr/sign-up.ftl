# An account that a person makes, and an invitation to one.

login-sign-up = Hesap oluştur

sign-up-title = Hesap oluştur
sign-up-text = E-posta adresinize bir bağlantı gönderilir. Onun ardından parolanızı belirlersiniz.
sign-up-email = E-posta adresi
sign-up-send = Bağlantıyı gönder
sign-up-have = Hesabım var
sign-up-sent = Bu adrese bir e-posta gönderildi. Bağlantısı bir kez çalışır, { page-for-minutes }.
sign-up-address-wrong = Bu bir e-posta adresi değil.
sign-up-domain = Bu alan adının adresleriyle burada hesap oluşturulamaz.
sign-up-ended = Bu bağlantının süresi doldu veya kullanıldı. Yenisini isteyin ya da oturum açın.
sign-up-for = { $name } ile oturum açarsınız.
sign-up-invited-by = { $by } sizi davet etti.
sign-up-invited-for = Parolanızı seçin. { $name } ile oturum açarsınız.
sign-up-name = Adınız (isteğe bağlı)
sign-up-name-wrong = Bu ad çok uzun veya bir adda olamayacak karakterler içeriyor.
sign-up-terms = Koşulları kabul ediyorum.
sign-up-terms-link = Oku
sign-up-terms-missing = Devam etmek için koşulları kabul edin.
sign-up-submit = Hesabı oluştur
sign-up-done = Hesap hazır. Az önce belirlediğiniz parolayla oturum açın.
sign-up-elsewhere = Hesap hazır. Başladığınız tarayıcıya dönün ve orada oturum açın: sizi uygulamaya götürür. Ya da burada hesabınızda oturum açın.

error-no-sign-up = Burada kimse hesap oluşturamaz. Bu sunucuyu işleten kişiden bir hesap isteyin.
error-invitation = Bu davet kabul edildi, geri alındı veya süresi doldu. Oturum açın ya da sizi davet edenden yenisini isteyin.

mail-sign-up-subject = { $brand } hesabınızı oluşturun
mail-sign-up-text = { $brand } üzerinde hesabınızı oluşturun:
mail-sign-up-button = Hesabı oluştur
mail-sign-up-known-subject = { $brand } hesabınız var
mail-sign-up-known = Birisi { $brand } üzerinde bu adres için hesap oluşturmak istedi. Zaten bir hesabı var.
mail-sign-up-login = Oturum aç
mail-sign-up-recover = Parolayı unuttuysanız: { $url }
mail-sign-up-ignore = Bu siz değilseniz bu iletiyi yok sayabilirsiniz.
mail-invitation-subject = { $brand } için davet edildiniz
mail-invitation-text = { $brand } için davet edildiniz. Oturum açmak için parolanızı seçin:
mail-invitation-by = { $by } sizi { $brand } için davet etti. Oturum açmak için parolanızı seçin:
mail-invitation-button = Parolayı seç
mail-invitation-until = Bağlantı bir kez, { $time } tarihine kadar çalışır.
