page-address-hint = Şu anda { $host } adresindesiniz. Parola yazmadan önce adres çubuğunda bunun yazdığını kontrol edin.
page-or = veya
page-continue = Devam
page-cancel = İptal
page-allow = İzin ver
page-deny = Reddet
page-language = Dil
page-language-change = Değiştir
page-privacy = Gizlilik
page-terms = Koşullar
page-help = Yardım
page-for-minutes = { $minutes ->
    [one] { $minutes } dakika boyunca
   *[other] { $minutes } dakika boyunca
}
page-close = Bu sayfayı kapatabilirsiniz.
page-not-set = belirtilmedi
page-yes = evet
page-no = hayır
page-logged-in-as = { $name } olarak giriş yaptınız.
page-to-account = Hesabınıza gidin
page-device-app-scheme = bu cihazdaki bir uygulama ({ $scheme })
page-missing-title = Sayfa bulunamadı
page-missing-heading = Böyle bir sayfa yok
page-missing-text = Adres yanlış yazılmış veya sayfa taşınmış olabilir.
