import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.models.beta.messages.BetaMessage;
import com.anthropic.models.messages.MessageCreateParams;
import com.fasterxml.jackson.annotation.JsonClassDescription;
import java.util.function.Supplier;

/** The Anthropic SDK: a whole answer, a stream, a tool call. */
public class AskAnthropic {
  @JsonClassDescription("The weather of a place.")
  static class Weather implements Supplier<String> {
    public String place;

    @Override
    public String get() {
      return "Sunny in " + place + ".";
    }
  }

  static MessageCreateParams.Builder ask(String content) {
    return MessageCreateParams.builder()
        .model("large-1")
        .maxTokens(200)
        .addUserMessage(content);
  }

  public static void main(String[] arguments) {
    var gateway = System.getenv().getOrDefault("GATEWAY_URL", "http://127.0.0.1:8080");
    var client =
        AnthropicOkHttpClient.builder()
            .baseUrl(gateway + "/alpha")
            .apiKey(System.getenv("GATEWAY_KEY"))
            .build();

    var message = client.messages().create(ask("Good morning").build());
    System.out.println("whole: " + message.content().get(0).asText().text());

    System.out.print("stream: ");
    try (var stream = client.messages().createStreaming(ask("Good evening").build())) {
      stream.stream()
          .flatMap(event -> event.contentBlockDelta().stream())
          .flatMap(event -> event.delta().text().stream())
          .forEach(delta -> System.out.print(delta.text()));
    }
    System.out.println();

    var question =
        com.anthropic.models.beta.messages.MessageCreateParams.builder()
            .model("large-1")
            .maxTokens(200)
            .addUserMessage("Use the weather tool.")
            .addTool(Weather.class)
            .build();
    BetaMessage answer = null;
    for (var turn : client.beta().messages().toolRunner(question)) answer = turn;
    System.out.println("tool: " + answer.content().get(0).asText().text());
    client.close();
  }
}
