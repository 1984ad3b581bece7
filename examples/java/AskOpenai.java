import com.fasterxml.jackson.annotation.JsonClassDescription;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.chat.completions.ChatCompletionToolMessageParam;
import com.openai.models.embeddings.EmbeddingCreateParams;
import com.openai.models.responses.ResponseCreateParams;
import java.util.List;

/** The OpenAI SDK: chat completions, responses, embeddings. */
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

  static ResponseCreateParams.Builder input(String text) {
    return ResponseCreateParams.builder().model("chat-1").maxOutputTokens(200).input(text);
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

    var response = client.responses().create(input("Good night").build());
    System.out.print("response: ");
    response.output().stream()
        .flatMap(item -> item.message().stream())
        .flatMap(message -> message.content().stream())
        .flatMap(content -> content.outputText().stream())
        .forEach(text -> System.out.println(text.text()));

    var next = input("Sleep well").previousResponseId(response.id()).build();
    System.out.print("continued: ");
    try (var events = client.responses().createStreaming(next)) {
      events.stream()
          .flatMap(event -> event.outputTextDelta().stream())
          .forEach(event -> System.out.print(event.delta()));
    }
    System.out.println();

    var texts =
        EmbeddingCreateParams.builder()
            .model("embed-1")
            .inputOfArrayOfStrings(List.of("soup", "bread"))
            .build();
    System.out.println("embeddings: " + client.embeddings().create(texts).data().size());
    client.close();
  }
}
