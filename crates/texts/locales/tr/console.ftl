# The console, where people administer.

console-title = Konsol
console-menu = Menü
console-skip = Sayfaya git
console-way = Bu sayfanın yeri
console-realm = Realm
console-find = Ad veya adresle kişi bul
console-account = Hesabınız
console-leave = Oturumu kapat
console-session-about = Konsol 30 dakika kullanılmazsa ve 8 saat sonra kapanır.
console-overview = Genel bakış
console-people = Kişiler
console-applications = Uygulamalar
console-live = Kullanımda
console-server = Kurulum
console-explain = Erişimi açıkla
console-token = Bir belirtece bak
console-audit = Denetim kaydı
console-settings = Ayarlar
console-drift = Plan ve sapma
console-operations = Tüm işlemler

console-kind-users = Kişiler
console-kind-groups = Gruplar
console-kind-roles = Roller
console-kind-attributes = Öznitelikler
console-kind-rules = Erişim kuralları
console-kind-clients = İstemciler
console-kind-resources = Kaynak sunucuları
console-kind-scopes = Kapsamlar
console-kind-providers = Kimlik sağlayıcıları
console-kind-realms = Realm’ler
console-kind-keys = İmza anahtarları
console-kind-sessions = Oturumlar
console-kind-grants = Yetkiler
console-kind-consents = Onaylar
console-kind-credentials = Etmenler
console-kind-agents = Aracılar
console-kind-nodes = Düğümler

console-yes = evet
console-no = hayır
console-none = Burada hiçbir şey yok.
console-add = Ekle
console-change = Değiştir
console-remove = Kaldır
console-save = Kaydet
console-show = Göster
console-end = Sonlandır
console-go-on = Devam et
console-search = Ara
console-filter = Süz
console-any = herhangi
console-all = Tümünü göster
console-pages = Sayfalar
console-first-page = İlk sayfa
console-next-page = Sonraki sayfa
console-older = Daha eski
console-acts = Neler yapılabilir
console-record = Kayıt
console-result = Sonuç
console-as-table = Tablo olarak
console-default = Varsayılan:
console-required = gerekli
console-unset = varsayılan gibi
console-one-a-line = Her satıra bir tane.
console-as-json = JSON.
console-more-fields = Diğer alanlar: { $count }
console-recorded = Bu, denetim kaydına yazılır.
console-done = Yapıldı ve denetim kaydına yazıldı.
console-once = Burada gizli olanı şimdi saklayın: bir daha gösterilmez.

console-refused = Bu yapılmadı.
console-not-allowed = { $name } olarak giriş yaptınız. Bu hesap burada yönetemez.
console-form-old = Formun süresi doldu veya bu tarayıcıdan değil. Sayfayı yeniden açın.
console-form-foreign = Form başka bir siteden geldi ve okunmadı.
console-form-bad = Form okunamadı.
console-look-at-fields = Hiçbir şey kaydedilmedi: işaretli alanlara bakın.
console-not-a-number = Bu bir tam sayı değil.
console-not-json = Bu JSON değil: satır { $line }, sütun { $column }.

console-ends = Bu bir şeyi sonlandırır ve geri alınamaz.
console-type-name = Devam etmek için { $name } yazın
console-type-again = Devam etmek için { $names } alanına yazdığınızı yeniden yazın
console-name-wrong = Hiçbir şey yapılmadı: sonda yazılan { $name } değil.
console-fresh-about = Bunun için kim olduğunuz bir kez daha sorulur: son on dakikadan bir geçiş anahtarı ya da parola ve kod.
console-fresh-go = Kim olduğunuzu gösterin
console-fresh-missing = Hiçbir şey yapılmadı: önce kim olduğunuzu bir kez daha gösterin.

console-changed = Hiçbir şey kaydedilmedi: bu kaydı bu arada başka biri değiştirdi.
console-changed-about = Değişiklikleri listelendi. Form şimdi onları ve yazdıklarınızı içeriyor.
console-changed-what = Bu arada değişenler
console-member = Alan
console-before = Önce
console-now = Şimdi
console-yours = Sizinki

console-timeline = Zaman çizelgesi
console-timeline-about = Denetim kaydının bu kayıtla ilgili son satırları.
console-latest = Son yönetim işlemleri
console-audit-who = Kim veya ne
console-audit-action = İşlem
console-audit-outcome = Sonuç
console-audit-address = Adres
console-audit-id = İstek, oturum veya yetki

console-attention = Dikkat gerektiriyor
console-all-well = Hiçbiri. Düğümler, anahtarlar ve denetim kaydı olması gerektiği gibi.
console-node-state = { $name } düğümü { $state }.
console-node-clock = { $name } düğümünün saati yanlış.
console-audit-stopped = Denetim kaydı yazılmıyor.
console-key-old = { $alg } anahtarı eski. İmzaladığı gün sayısı: { $days }
console-logouts-failed = Vazgeçilen çıkış bildirimleri: { $count }

console-oldest-key = En eski imza anahtarı, gün
console-settings-set = Kendi ayarlarınız

console-keys-about = Her anahtar imzalamadan önce yayımlanır ve imzaladıklarının süresi dolana dek yayımda kalır.
console-key-made = { $time } tarihinden beri yayımda.
console-key-signs-since = { $time } tarihinden beri imzalıyor.
console-key-signs-from = { $time } tarihinden itibaren imzalar.
console-key-ends = { $time } tarihinde kaldırılır.
console-key-age = Gün olarak yaşı: { $days }
console-key-published = yayımda
console-key-signing = imzalıyor

console-settings-about = Geçerli değer ve nereden geldiği. Sürecin ayarları yapılandırmasında, bir realm’inkiler kaydında değiştirilir.
console-settings-first = Genel
console-source = Kaynak
console-source-default = varsayılan
console-source-configuration = yapılandırma
console-source-record = kayıt

console-token-about = Bir belirtecin ne olduğu ve geçerli olup olmadığı. Formun gövdesinde gönderilir ve hiçbir yerde saklanmaz.
console-token-paste = Erişim belirteci veya yenileme belirteci
console-token-valid = Bu belirteç geçerli.
console-token-expired = Bu belirtecin süresi doldu.
console-token-revoked = Bu belirteç veya bağlı olduğu şey iptal edildi.
console-token-consumed = Bu yenileme belirteci kullanıldı: yerini başkası aldı.
console-token-unknown = Bu belirtecin geçerli olup olmadığı şu anda söylenemez.
console-token-foreign = Bu, bu sunucunun belirteci değil.
console-the-person = Kişi
console-the-client = İstemci

console-operations-about = Yönetim API’sinin yapabildiği her şey, her biri kendi formuyla. İşlemlerin ve alanların ne işe yaradığı İngilizce söylenir.
console-operation = İşlem
console-right = Hak

console-first-title = İlk yönetici
console-first-about = Bu sunucuda henüz hesap yok. Bir ad ve parola seçin; sonra bir geçiş anahtarı veya kod gösteren bir uygulama eklersiniz.
console-first-password = Parola
console-first-rule = Karakter, en az: { $count }
console-first-make = Hesabı oluştur
console-first-ended = Bu bağlantı kullanıldı, süresi doldu veya eksik. Hesap olmadığı sürece sunucunun her başlangıcı yenisini gösterir.
console-first-login = Yönet
console-first-login-about = Bu bağlantı, bu geliştirme sunucusunun yöneticisini bir kez giriş yaptırır.
console-no-passkey = Geçiş anahtarınız yok: koddan hızlıdır ve kimseye söylenemez.
