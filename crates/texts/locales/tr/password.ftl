password-too-short = Yeni parola en az 8 karakter olmalı.
password-too-short-longer = Yeni parola çok kısa. Gereken uzunluk alanın altında yazıyor.
password-too-long = Yeni parola çok uzun.
password-repeated = Yeni parola tek bir karakterin tekrarı. Başka bir tane seçin.
password-common = Yeni parola birçok kişinin seçtiği ve ilk tahmin edilen bir parola. Başka bir tane seçin.
password-name = Yeni parola adınızdan veya adresinizden oluşuyor ya da bunları içeriyor. Başka bir tane seçin.
password-server = Yeni parola bu sunucunun adını içeriyor. Başka bir tane seçin.
