// Verifies tokens for some seconds: java Verify.java LIBRARY DIRECTORY ALGORITHM SECONDS
// tokens: one a line; jwk.json: the public key. Prints operations a second.
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.source.ImmutableJWKSet;
import com.nimbusds.jose.proc.DefaultJOSEObjectTypeVerifier;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.proc.DefaultJWTClaimsVerifier;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

public class Verify {
    public static void main(String[] arguments) throws Exception {
        Path directory = Path.of(arguments[1]);
        double seconds = Double.parseDouble(arguments[3]);
        List<String> tokens = Files.readAllLines(directory.resolve("tokens"));
        var keys = new ImmutableJWKSet<SecurityContext>(
            new JWKSet(JWK.parse(Files.readString(directory.resolve("jwk.json")))));
        var processor = new DefaultJWTProcessor<SecurityContext>();
        processor.setJWSTypeVerifier(new DefaultJOSEObjectTypeVerifier<>(new JOSEObjectType("at+jwt")));
        processor.setJWSKeySelector(new JWSVerificationKeySelector<>(JWSAlgorithm.parse(arguments[2]), keys));
        var exact = new JWTClaimsSet.Builder().issuer("https://id.example.com").build();
        processor.setJWTClaimsSetVerifier(
            new DefaultJWTClaimsVerifier<>("https://orders.example.com", exact, Set.of("exp")));
        // The virtual machine compiles what is warm: longer than the others' beginning.
        run(processor, tokens, Math.max(3, seconds / 2));
        System.out.println(run(processor, tokens, seconds));
    }

    static double run(DefaultJWTProcessor<SecurityContext> processor, List<String> tokens, double seconds)
            throws Exception {
        long begun = System.nanoTime();
        int count = 0;
        while (System.nanoTime() - begun < seconds * 1e9) {
            for (int n = 0; n < 16; n++) {
                processor.process(tokens.get((count + n) % tokens.size()), null);
            }
            count += 16;
        }
        return count / ((System.nanoTime() - begun) / 1e9);
    }
}
