# The console, where people administer.

console-title = कंसोल
console-menu = मेनू
console-skip = पृष्ठ पर जाएँ
console-way = इस पृष्ठ का स्थान
console-realm = Realm
console-find = नाम या पते से व्यक्ति खोजें
console-account = आपका खाता
console-leave = लॉग आउट करें
console-session-about = 30 मिनट उपयोग न होने पर और 8 घंटे बाद कंसोल बंद हो जाता है।
console-overview = सारांश
console-people = लोग
console-applications = ऐप्लिकेशन
console-live = अभी उपयोग में
console-server = इंस्टॉलेशन
console-explain = पहुँच समझाएँ
console-token = टोकन देखें
console-audit = ऑडिट लॉग
console-settings = सेटिंग
console-drift = योजना और अंतर
console-operations = सभी कार्य

console-kind-users = लोग
console-kind-groups = समूह
console-kind-roles = भूमिकाएँ
console-kind-attributes = गुण
console-kind-rules = पहुँच के नियम
console-kind-clients = क्लाइंट
console-kind-resources = संसाधन सर्वर
console-kind-scopes = स्कोप
console-kind-providers = पहचान प्रदाता
console-kind-realms = Realm
console-kind-keys = हस्ताक्षर कुंजियाँ
console-kind-sessions = सत्र
console-kind-grants = अनुमतियाँ
console-kind-consents = सहमतियाँ
console-kind-credentials = कारक
console-kind-agents = एजेंट
console-kind-nodes = नोड

console-yes = हाँ
console-no = नहीं
console-none = यहाँ कुछ नहीं है।
console-add = जोड़ें
console-change = बदलें
console-remove = हटाएँ
console-save = सहेजें
console-show = दिखाएँ
console-end = समाप्त करें
console-go-on = आगे बढ़ें
console-search = खोजें
console-filter = छाँटें
console-any = कोई भी
console-all = सब दिखाएँ
console-pages = पृष्ठ
console-first-page = पहला पृष्ठ
console-next-page = अगला पृष्ठ
console-older = पुराने
console-acts = क्या किया जा सकता है
console-record = रिकॉर्ड
console-result = परिणाम
console-as-table = तालिका के रूप में
console-default = डिफ़ॉल्ट:
console-required = ज़रूरी
console-unset = डिफ़ॉल्ट के अनुसार
console-one-a-line = हर पंक्ति में एक।
console-as-json = JSON.
console-more-fields = और फ़ील्ड: { $count }
console-recorded = यह ऑडिट लॉग में दर्ज होता है।
console-done = हो गया, और ऑडिट लॉग में दर्ज हुआ।
console-once = यहाँ जो गुप्त है उसे अभी सुरक्षित रखें: यह दोबारा नहीं दिखाया जाएगा।

console-refused = यह नहीं किया गया।
console-not-allowed = आप { $name } के रूप में लॉग इन हैं। यह खाता यहाँ प्रशासन नहीं कर सकता।
console-form-old = फ़ॉर्म की अवधि समाप्त हो गई है या यह इस ब्राउज़र का नहीं है। पृष्ठ फिर से खोलें।
console-form-foreign = फ़ॉर्म किसी दूसरी साइट से आया और पढ़ा नहीं गया।
console-form-bad = फ़ॉर्म पढ़ा नहीं जा सका।
console-look-at-fields = कुछ नहीं सहेजा गया: चिह्नित फ़ील्ड देखें।
console-not-a-number = यह पूर्ण संख्या नहीं है।
console-not-json = यह JSON नहीं है: पंक्ति { $line }, स्तंभ { $column }।

console-ends = यह कुछ समाप्त करता है और वापस नहीं लिया जा सकता।
console-type-name = आगे बढ़ने के लिए { $name } लिखें
console-type-again = आगे बढ़ने के लिए वह फिर लिखें जो { $names } में लिखा है
console-name-wrong = कुछ नहीं किया गया: अंत में लिखा गया { $name } नहीं है।
console-fresh-about = इसके लिए फिर पूछा जाता है कि आप कौन हैं: पिछले दस मिनट की पासकी, या पासवर्ड और कोड।
console-fresh-go = दिखाएँ कि आप कौन हैं
console-fresh-missing = कुछ नहीं किया गया: पहले फिर दिखाएँ कि आप कौन हैं।

console-changed = कुछ नहीं सहेजा गया: इस बीच किसी और ने यह रिकॉर्ड बदल दिया है।
console-changed-about = उनके बदलाव नीचे हैं। फ़ॉर्म में अब वे भी हैं और आपका लिखा भी।
console-changed-what = इस बीच क्या बदला
console-member = सदस्य
console-before = पहले
console-now = अब
console-yours = आपका

console-timeline = समयरेखा
console-timeline-about = इस रिकॉर्ड के बारे में ऑडिट लॉग की अंतिम पंक्तियाँ।
console-latest = प्रशासन के अंतिम कार्य
console-audit-who = कौन या क्या
console-audit-action = कार्य
console-audit-outcome = नतीजा
console-audit-address = पता
console-audit-id = अनुरोध, सत्र या अनुमति

console-attention = ध्यान चाहिए
console-all-well = कुछ नहीं। नोड, कुंजियाँ और ऑडिट लॉग वैसे हैं जैसे होने चाहिए।
console-node-state = नोड { $name }: { $state }।
console-node-clock = नोड { $name } की घड़ी गलत है।
console-audit-stopped = ऑडिट लॉग लिखा नहीं जा रहा है।
console-key-old = { $alg } की कुंजी पुरानी है। हस्ताक्षर के दिन: { $days }
console-logouts-failed = छोड़ी गई लॉग आउट सूचनाएँ: { $count }

console-oldest-key = सबसे पुरानी हस्ताक्षर कुंजी, दिन
console-settings-set = आपकी अपनी सेटिंग

console-keys-about = हर कुंजी हस्ताक्षर करने से पहले प्रकाशित होती है और तब तक प्रकाशित रहती है जब तक उसका हस्ताक्षरित सब समाप्त न हो जाए।
console-key-made = { $time } से प्रकाशित।
console-key-signs-since = { $time } से हस्ताक्षर करती है।
console-key-signs-from = { $time } से हस्ताक्षर करेगी।
console-key-ends = { $time } को हटाई जाएगी।
console-key-age = दिनों में आयु: { $days }
console-key-published = प्रकाशित
console-key-signing = हस्ताक्षर करती है

console-settings-about = जो मान लागू है और वह कहाँ से आता है। प्रक्रिया की सेटिंग उसके विन्यास में बदलती है, realm की उसके रिकॉर्ड में।
console-settings-first = सामान्य
console-source = स्रोत
console-source-default = डिफ़ॉल्ट
console-source-configuration = विन्यास
console-source-record = रिकॉर्ड

console-token-about = टोकन क्या है और मान्य है या नहीं। यह फ़ॉर्म में भेजा जाता है और कहीं रखा नहीं जाता।
console-token-paste = एक्सेस टोकन या रिफ़्रेश टोकन
console-token-valid = यह टोकन मान्य है।
console-token-expired = इस टोकन की अवधि समाप्त हो गई है।
console-token-revoked = यह टोकन, या जिस पर यह टिका है, रद्द किया गया।
console-token-consumed = यह रिफ़्रेश टोकन उपयोग हो चुका है: दूसरे ने इसकी जगह ली।
console-token-unknown = अभी नहीं कहा जा सकता कि यह टोकन मान्य है या नहीं।
console-token-foreign = यह इस सर्वर का टोकन नहीं है।
console-the-person = व्यक्ति
console-the-client = क्लाइंट

console-operations-about = प्रशासन API जो कुछ कर सकता है, हर कार्य अपने फ़ॉर्म के साथ। कार्य और उनके सदस्य किसलिए हैं, यह अंग्रेज़ी में बताया गया है।
console-operation = कार्य
console-right = अधिकार

console-first-title = पहला प्रशासक
console-first-about = इस सर्वर पर अभी कोई खाता नहीं है। एक नाम और पासवर्ड चुनें; फिर आप पासकी या कोड दिखाने वाला ऐप जोड़ेंगे।
console-first-password = पासवर्ड
console-first-rule = अक्षर, कम से कम: { $count }
console-first-make = खाता बनाएँ
console-first-ended = यह लिंक उपयोग हो चुका है, समाप्त हो गया है या पूरा नहीं है। जब तक कोई खाता नहीं है, सर्वर का हर आरंभ दूसरा दिखाता है।
console-first-login = प्रशासन करें
console-first-login-about = यह लिंक इस विकास सर्वर के प्रशासक को एक बार लॉग इन कराता है।
console-no-passkey = आपके पास पासकी नहीं है: यह कोड से तेज़ है और किसी को बताई नहीं जा सकती।
