// Spring Authorization Server: client_credentials with client_secret_basic, JWT access tokens
// signed with ES256, nothing durable: java Provider.java DIRECTORY
// chain.pem, key.pem, signing.pem and jwk.json, its public half, lie there; writes `port`.
import static java.nio.charset.StandardCharsets.UTF_8;

import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.source.ImmutableJWKSet;
import com.nimbusds.jose.jwk.source.JWKSource;
import com.nimbusds.jose.proc.SecurityContext;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.KeyFactory;
import java.security.MessageDigest;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.servlet.context.ServletWebServerInitializedEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.security.oauth2.core.AuthorizationGrantType;
import org.springframework.security.oauth2.core.ClientAuthenticationMethod;
import org.springframework.security.oauth2.jose.jws.SignatureAlgorithm;
import org.springframework.security.oauth2.server.authorization.OAuth2Authorization;
import org.springframework.security.oauth2.server.authorization.OAuth2AuthorizationService;
import org.springframework.security.oauth2.server.authorization.OAuth2TokenType;
import org.springframework.security.oauth2.server.authorization.client.InMemoryRegisteredClientRepository;
import org.springframework.security.oauth2.server.authorization.client.RegisteredClient;
import org.springframework.security.oauth2.server.authorization.client.RegisteredClientRepository;
import org.springframework.security.oauth2.server.authorization.settings.TokenSettings;
import org.springframework.security.oauth2.server.authorization.token.JwtEncodingContext;
import org.springframework.security.oauth2.server.authorization.token.OAuth2TokenCustomizer;

@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
public class Provider {
    static Path directory;

    public static void main(String[] arguments) {
        directory = Path.of(arguments[0]);
        var application = new SpringApplication(Provider.class);
        application.setDefaultProperties(Map.of(
            "server.port", "0",
            "server.address", "127.0.0.1",
            "server.ssl.certificate", directory.resolve("chain.pem").toUri().toString(),
            "server.ssl.certificate-private-key", directory.resolve("key.pem").toUri().toString(),
            "server.ssl.enabled-protocols", "TLSv1.3",
            "server.tomcat.max-keep-alive-requests", "-1",
            "server.tomcat.keep-alive-timeout", "10m",
            "logging.level.root", "warn"));
        application.run();
    }

    @Bean
    RegisteredClientRepository clients() {
        return new InMemoryRegisteredClientRepository(RegisteredClient.withId("bench")
            .clientId("bench")
            .clientSecret(digest("a secret of sixty-four bytes that nobody but the two of them has"))
            .clientAuthenticationMethod(ClientAuthenticationMethod.CLIENT_SECRET_BASIC)
            .authorizationGrantType(AuthorizationGrantType.CLIENT_CREDENTIALS)
            .tokenSettings(TokenSettings.builder().accessTokenTimeToLive(Duration.ofHours(1)).build())
            .build());
    }

    @Bean
    JWKSource<SecurityContext> keys() throws Exception {
        String pem = Files.readString(directory.resolve("signing.pem")).replaceAll("-----[A-Z ]+-----|\\s", "");
        var secret = new PKCS8EncodedKeySpec(Base64.getDecoder().decode(pem));
        var known = ECKey.parse(Files.readString(directory.resolve("jwk.json")));
        var key = new ECKey.Builder(known).privateKey(KeyFactory.getInstance("EC").generatePrivate(secret));
        return new ImmutableJWKSet<>(new JWKSet(key.build()));
    }

    /**
     * A digest, as Signet keeps of a random secret. The default encodes a secret anew with bcrypt after its
     * first use, and measures bcrypt from then on.
     */
    @Bean
    PasswordEncoder secrets() {
        return new PasswordEncoder() {
            public String encode(CharSequence secret) {
                return digest(secret);
            }

            public boolean matches(CharSequence secret, String kept) {
                return MessageDigest.isEqual(digest(secret).getBytes(UTF_8), kept.getBytes(UTF_8));
            }
        };
    }

    static String digest(CharSequence secret) {
        try {
            byte[] bytes = secret.toString().getBytes(UTF_8);
            return Base64.getEncoder().encodeToString(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (java.security.NoSuchAlgorithmException error) {
            throw new IllegalStateException(error);
        }
    }

    /** Keeps nothing: the memory of the default grows with each token. */
    @Bean
    OAuth2AuthorizationService nothing() {
        return new OAuth2AuthorizationService() {
            public void save(OAuth2Authorization authorization) {}

            public void remove(OAuth2Authorization authorization) {}

            public OAuth2Authorization findById(String id) {
                return null;
            }

            public OAuth2Authorization findByToken(String token, OAuth2TokenType type) {
                return null;
            }
        };
    }

    @Bean
    OAuth2TokenCustomizer<JwtEncodingContext> form() {
        return context -> {
            context.getJwsHeader().algorithm(SignatureAlgorithm.ES256).type("at+jwt").keyId("k1");
            context.getClaims().audience(List.of("https://orders.example.com")).claim("client_id", "bench");
        };
    }

    @Bean
    ApplicationListener<ServletWebServerInitializedEvent> started() {
        return event -> {
            try {
                Path port = directory.resolve("port.new");
                Files.writeString(port, Integer.toString(event.getWebServer().getPort()));
                Files.move(port, directory.resolve("port"), StandardCopyOption.ATOMIC_MOVE);
            } catch (java.io.IOException error) {
                throw new IllegalStateException(error);
            }
        };
    }
}
