password-too-short = Yeni parola en az 8 karakter olmalıdır.
password-too-short-longer = Yeni parola çok kısa. Gereken uzunluk alanın altında yazıyor.
password-too-long = Yeni parola çok uzun.
password-repeated = Yeni parola tek bir karakterin tekrarı. Başka bir parola seçin.
password-common = Yeni parolayı birçok kişi seçiyor ve ilk o tahmin ediliyor. Başka bir parola seçin.
password-name = Yeni parola adınızdan veya adresinizden oluşuyor ya da bunları içeriyor. Başka bir parola seçin.
password-server = Yeni parola bu sunucunun adını içeriyor. Başka bir parola seçin.
