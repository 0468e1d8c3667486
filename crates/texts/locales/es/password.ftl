password-too-short = La contraseña nueva necesita al menos 8 caracteres.
password-too-short-longer = La contraseña nueva es demasiado corta. Debajo del campo se indica la longitud necesaria.
password-too-long = La contraseña nueva es demasiado larga.
password-repeated = La contraseña nueva es un solo carácter repetido. Elija otra.
password-common = La contraseña nueva la elige mucha gente y es de las primeras que se adivinan. Elija otra.
password-name = La contraseña nueva está formada por su nombre o su dirección, o los contiene. Elija otra.
password-server = La contraseña nueva contiene el nombre de este servidor. Elija otra.
