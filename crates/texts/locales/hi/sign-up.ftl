# An account that a person makes, and an invitation to one.

login-sign-up = खाता बनाएँ

sign-up-title = खाता बनाएँ
sign-up-text = आपके ई-मेल पते पर एक लिंक भेजा जाता है। उससे आप अपना पासवर्ड तय करते हैं।
sign-up-email = ई-मेल पता
sign-up-send = लिंक भेजें
sign-up-have = मेरा खाता है
sign-up-sent = इस पते पर एक ई-मेल भेजा गया है। उसका लिंक एक बार काम करता है, { page-for-minutes }।
sign-up-address-wrong = यह ई-मेल पता नहीं है।
sign-up-domain = इस डोमेन के पतों से यहाँ खाता नहीं बनाया जा सकता।
sign-up-ended = यह लिंक समाप्त हो गया है या इस्तेमाल हो चुका है। नया लिंक माँगें या लॉग इन करें।
sign-up-for = आप { $name } से लॉग इन करते हैं।
sign-up-invited-by = { $by } ने आपको आमंत्रित किया है।
sign-up-invited-for = अपना पासवर्ड चुनें। आप { $name } से लॉग इन करते हैं।
sign-up-name = आपका नाम (वैकल्पिक)
sign-up-name-wrong = यह नाम बहुत लंबा है या इसमें ऐसे अक्षर हैं जो नाम में नहीं हो सकते।
sign-up-terms = मैं शर्तें स्वीकार करता/करती हूँ।
sign-up-terms-link = पढ़ें
sign-up-terms-missing = आगे बढ़ने के लिए शर्तें स्वीकार करें।
sign-up-submit = खाता बनाएँ
sign-up-done = खाता तैयार है। अभी तय किए गए पासवर्ड से लॉग इन करें।
sign-up-elsewhere = खाता तैयार है। उस ब्राउज़र में लौटें जहाँ आपने शुरू किया था और वहाँ लॉग इन करें: वह आपको ऐप्लिकेशन तक ले जाता है। या यहाँ अपने खाते में लॉग इन करें।

error-no-sign-up = यहाँ कोई खाता नहीं बना सकता। इस सर्वर के संचालक से खाता माँगें।
error-invitation = यह निमंत्रण स्वीकार किया जा चुका है, वापस लिया गया है या समाप्त हो गया है। लॉग इन करें या नया निमंत्रण माँगें।

mail-sign-up-subject = { $brand } पर अपना खाता बनाएँ
mail-sign-up-text = { $brand } पर अपना खाता बनाएँ:
mail-sign-up-button = खाता बनाएँ
mail-sign-up-known-subject = { $brand } पर आपका खाता है
mail-sign-up-known = किसी ने { $brand } पर इस पते के लिए खाता बनाना चाहा। इसका खाता पहले से है।
mail-sign-up-login = लॉग इन करें
mail-sign-up-recover = यदि आप पासवर्ड भूल गए हैं: { $url }
mail-sign-up-ignore = यदि यह आप नहीं थे, तो इस संदेश को अनदेखा करें।
mail-invitation-subject = आपको { $brand } में आमंत्रित किया गया है
mail-invitation-text = आपको { $brand } में आमंत्रित किया गया है। लॉग इन करने के लिए अपना पासवर्ड चुनें:
mail-invitation-by = { $by } ने आपको { $brand } में आमंत्रित किया है। लॉग इन करने के लिए अपना पासवर्ड चुनें:
mail-invitation-button = पासवर्ड चुनें
mail-invitation-until = लिंक एक बार, { $time } तक काम करता है।
