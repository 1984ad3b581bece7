import com.fasterxml.jackson.annotation.JsonClassDescription;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.chat.completions.ChatCompletionToolMessageParam;
import java.util.List;

/** The OpenAI SDK: a whole answer, a stream, a tool call. */
public class AskOpenai {
  @JsonClassDescription("The weather of a place.")
  static class Weather {
    public String place;
  }

  static ChatCompletionCreateParams.Builder ask(String content) {
    return ChatCompletionCreateParams.builder()
        .model("chat-1")
        .maxTokens(200)
        .addUserMessage(content);
  }

  public static void main(String[] arguments) {
    var gateway = System.getenv().getOrDefault("GATEWAY_URL", "http://127.0.0.1:8080");
    var client =
        OpenAIOkHttpClient.builder()
            .baseUrl(gateway + "/beta/v1")
            .apiKey(System.getenv("GATEWAY_KEY"))
            .build();
    var chat = client.chat().completions();

    var completion = chat.create(ask("Good morning").build());
    System.out.println("whole: " + completion.choices().get(0).message().content().orElse(""));

    System.out.print("stream: ");
    try (var stream = chat.createStreaming(ask("Good evening").build())) {
      stream.stream()
          .flatMap(chunk -> chunk.choices().get(0).delta().content().stream())
          .forEach(System.out::print);
    }
    System.out.println();

    var question = ask("Use the weather tool.").addTool(Weather.class);
    var asked = chat.create(question.build()).choices().get(0).message();
    question.addMessage(asked);
    for (var call : asked.toolCalls().orElse(List.of())) {
      var function = call.asFunction();
      question.addMessage(
          ChatCompletionToolMessageParam.builder()
              .toolCallId(function.id())
              .content("Sunny in " + function.function().arguments(Weather.class).place + ".")
              .build());
    }
    var answer = chat.create(question.build()).choices().get(0).message();
    System.out.println("tool: " + answer.content().orElse(""));
    client.close();
  }
}
